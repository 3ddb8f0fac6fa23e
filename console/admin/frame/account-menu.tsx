import { type MantineColorScheme, Menu, SegmentedControl, UnstyledButton, useMantineColorScheme } from '@mantine/core';
import { roleNames, useMe } from '../access.tsx';
import { settings } from '../settings.ts';
import { Icon } from '../ui/icon.tsx';
import styles from './account-menu.module.css';

const schemes = [
  { value: 'light', icon: 'sun', name: 'Light' },
  { value: 'dark', icon: 'moon', name: 'Dark' },
  { value: 'auto', icon: 'monitor', name: 'System' },
] as const;

/** Who is signed in, how it looks, and the way out. */
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
    <Menu position="bottom-end" width={280}>
      <Menu.Target>
        <UnstyledButton className={styles.face ?? ''} aria-label={`Account: ${me.name}`}>
          {me.name.charAt(0)}
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <div className={styles.who}>
          <strong>{me.name}</strong>
          <span>{roles}</span>
        </div>
        <Menu.Divider />
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
        <Menu.Divider />
        <Menu.Item
          component="a"
          href={`/oauth2/end_session?${signOut}`}
          leftSection={<Icon name="signOut" size={16} />}
        >
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
