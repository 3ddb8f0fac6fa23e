import {
  Avatar,
  Box,
  Button,
  Group,
  type MantineColorScheme,
  Popover,
  SegmentedControl,
  Stack,
  Text,
  useMantineColorScheme,
} from '@mantine/core';
import { roleNames, useMe } from '../access.tsx';
import { signOutAddress } from '../settings.ts';
import { counted } from '../ui/counted.ts';
import { Icon } from '../ui/icon.tsx';

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
  const roles = owner ? roleNames.OWNER : counted(me.grants.length, 'project');
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
          aria-label={`Account: ${me.name}`}
        >
          {me.name.charAt(0).toUpperCase()}
        </Avatar>
      </Popover.Target>
      <Popover.Dropdown aria-label="Account">
        <Stack gap="sm">
          <Box px="xs" style={{ overflowWrap: 'anywhere' }}>
            <strong>{me.name}</strong>
            <Text c="dimmed">{roles}</Text>
          </Box>
          <SegmentedControl
            fullWidth
            size="xs"
            aria-label="Colours"
            value={colorScheme}
            onChange={(value) => setColorScheme(value as MantineColorScheme)}
            data={schemes.map(({ value, icon, name }) => ({
              value,
              label: (
                <Group component="span" gap={6} wrap="nowrap">
                  <Icon name={icon} size={14} />
                  {name}
                </Group>
              ),
            }))}
          />
          <Button
            component="a"
            href={signOutAddress}
            variant="subtle"
            color="gray"
            justify="flex-start"
            px="xs"
            leftSection={<Icon name="signOut" size={16} />}
          >
            Sign out
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
