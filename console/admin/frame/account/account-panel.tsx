import {
  Box,
  Button,
  Group,
  type MantineColorScheme,
  NativeSelect,
  SegmentedControl,
  Stack,
  Text,
  useMantineColorScheme,
} from '@mantine/core';
import { roleNames, useMe } from '../../access.tsx';
import { chooseLanguage, chosenLanguage, type Language, languages, t } from '../../language/language.ts';
import { signOutAddress } from '../../settings.ts';
import { optionsOf } from '../../ui/forms/options.ts';
import { Icon, type IconName } from '../../ui/icon.tsx';

const schemes = [
  { value: 'light', icon: 'sun', name: t('Light') },
  { value: 'dark', icon: 'moon', name: t('Dark') },
  { value: 'auto', icon: 'monitor', name: t('System') },
] as const;

/** Signed-in account, its own page, theme, language and sign-out. */
export function AccountPanel() {
  const me = useMe();
  const owner = me.grants.some(({ role }) => role === 'OWNER');
  const projects = me.grants.filter(({ role }) => role !== 'ORGANIZATION_ADMIN').length;
  const hasBoth = projects > 0 && projects < me.grants.length;
  const roles = owner
    ? roleNames.OWNER
    : projects > 0
      ? t('{count, plural, one {# project} other {# projects}}', { count: projects })
      : roleNames.ORGANIZATION_ADMIN;
  return (
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
      {hasBoth && (
        <Away href="/admin/organizations" icon="building">
          {t('Organizations')}
        </Away>
      )}
      <Away href="/account" icon="users">
        {t('Your account')}
      </Away>
      <Away href={signOutAddress} icon="signOut">
        {t('Sign out')}
      </Away>
    </Stack>
  );
}

/** A link that loads another page. */
function Away({ href, icon, children }: { href: string; icon: IconName; children: string }) {
  return (
    <Button
      component="a"
      href={href}
      variant="subtle"
      color="gray"
      justify="flex-start"
      px="xs"
      leftSection={<Icon name={icon} size={16} />}
    >
      {children}
    </Button>
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
