import {
  Avatar,
  Box,
  Button,
  Group,
  type MantineColorScheme,
  NativeSelect,
  Popover,
  SegmentedControl,
  Stack,
  Text,
  useMantineColorScheme,
} from '@mantine/core';
import { roleNames, useMe } from '../access.tsx';
import { chooseLanguage, chosenLanguage, type Language, languages, t } from '../language/language.ts';
import { signOutAddress } from '../settings.ts';
import { optionsOf } from '../ui/forms/options.ts';
import { Icon } from '../ui/icon.tsx';

const schemes = [
  { value: 'light', icon: 'sun', name: t('Light') },
  { value: 'dark', icon: 'moon', name: t('Dark') },
  { value: 'auto', icon: 'monitor', name: t('System') },
] as const;

/** Signed-in account, theme, language and sign-out. */
export function AccountMenu() {
  const me = useMe();
  const owner = me.grants.some(({ role }) => role === 'OWNER');
  const roles = owner
    ? roleNames.OWNER
    : t('{count, plural, one {# project} other {# projects}}', { count: me.grants.length });
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
        <Stack gap="sm">
          <Box px="xs" style={{ overflowWrap: 'anywhere' }}>
            <strong>{me.name}</strong>
            <Text c="dimmed">{roles}</Text>
          </Box>
          <Colors />
          <NativeSelect
            size="xs"
            label={t('Language')}
            value={chosenLanguage ?? ''}
            onChange={({ currentTarget: { value } }) => chooseLanguage((value || null) as Language | null)}
            data={[{ value: '', label: t('As in the browser') }, ...optionsOf(languages)]}
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
            {t('Sign out')}
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

function Colors() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <SegmentedControl
      fullWidth
      size="xs"
      aria-label={t('Colors')}
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
  );
}
