import { Avatar, Popover } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { useMe } from '../../access.tsx';
import { t } from '../../language/language.ts';

const AccountPanel = lazy(async () => ({ default: (await import('./account-panel.tsx')).AccountPanel }));

/** Signed-in account, theme, language and sign-out. */
export function AccountMenu() {
  const me = useMe();
  return (
    <Popover position="bottom-end" width={280} shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <Avatar
          component="button"
          type="button"
          size="2rem"
          ml={4}
          p={0}
          bd={0}
          color="accent"
          aria-label={t('Account: {name}', { name: me.name })}
        >
          {me.name.charAt(0).toUpperCase()}
        </Avatar>
      </Popover.Target>
      <Popover.Dropdown aria-label={t('Account')}>
        <Suspense>
          <AccountPanel />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  );
}
