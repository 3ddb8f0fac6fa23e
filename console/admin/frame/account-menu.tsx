import {
  type MantineColorScheme,
  Popover,
  SegmentedControl,
  UnstyledButton,
  useMantineColorScheme,
} from '@mantine/core';
import { roleNames, useMe } from '../access.tsx';
import { settings } from '../settings.ts';
import { Icon } from '../ui/icon.tsx';
import styles from './account-menu.module.css';

const schemes = [
  { value: 'light', icon: 'sun', name: 'Light' },
  { value: 'dark', icon: 'moon', name: 'Dark' },
  { value: 'auto', icon: 'monitor', name: 'System' },
] as const;

/** Signed-in account, theme and sign-out. */
export function AccountMenu() {
  const me = useMe();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const owner = me.grants.some(({ role }) => role === 'OWNER');
  const roles = owner ? roleNames.OWNER : `${me.grants.length} project${me.grants.length === 1 ? '' : 's'}`;
  const signOut = new URLSearchParams({
    client_id: settings.clientId,
    post_logout_redirect_uri: `${settings.issuer}/admin`,
  });
  return (
    <Popover position="bottom-end" width={280} shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <UnstyledButton className={styles.face ?? ''} aria-label={`Account: ${me.name}`}>
          {me.name.charAt(0)}
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown p={0} aria-label="Account">
        <div className={styles.who}>
          <strong>{me.name}</strong>
          <span>{roles}</span>
        </div>
        <div className={styles.scheme}>
          <SegmentedControl
            fullWidth
            size="xs"
            aria-label="Colours"
            value={colorScheme}
            onChange={(value) => setColorScheme(value as MantineColorScheme)}
            data={schemes.map(({ value, icon, name }) => ({
              value,
              label: (
                <span className={styles.option}>
                  <Icon name={icon} size={14} />
                  {name}
                </span>
              ),
            }))}
          />
        </div>
        <a className={styles.out} href={`/oauth2/end_session?${signOut}`}>
          <Icon name="signOut" size={16} />
          Sign out
        </a>
      </Popover.Dropdown>
    </Popover>
  );
}
