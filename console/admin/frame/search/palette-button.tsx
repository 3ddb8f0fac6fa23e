import { ActionIcon, Button, Kbd } from '@mantine/core';
import { t } from '../../language/language.ts';
import { Icon } from '../../ui/icon.tsx';

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

export function PaletteButton({ onOpen }: { onOpen(): void }) {
  const props = { onClick: onOpen, variant: 'default', 'aria-keyshortcuts': 'Control+K Meta+K' } as const;
  return (
    <>
      <Button
        {...props}
        visibleFrom="md"
        fw={400}
        c="dimmed"
        leftSection={<Icon name="search" size={16} />}
        rightSection={<Kbd aria-hidden="true">{isMac ? '⌘ K' : t('Ctrl K')}</Kbd>}
      >
        {t('Search or go to')}
      </Button>
      <ActionIcon {...props} variant="subtle" color="gray" size="lg" hiddenFrom="md" aria-label={t('Search or go to')}>
        <Icon name="search" size={16} />
      </ActionIcon>
    </>
  );
}
