import { Kbd, Stack, Switch, Text } from '@mantine/core';
import { settings } from '../settings.ts';
import { CopyField } from '../ui/code/copy.tsx';
import { Facts } from '../ui/lists/facts.tsx';

const keys = [
  ['Ctrl K or ⌘ K', 'Search, go somewhere, or act on this page'],
  ['?', 'This help'],
  ['↑ ↓ Enter', 'Choose in a list of results'],
  ['Tab', 'Next control'],
  ['Esc', 'Close'],
] as const;

interface HelpProps {
  hasSingleKeys: boolean;
  onSingleKeys(has: boolean): void;
}

/** Keyboard shortcuts and endpoints. */
export function Help({ hasSingleKeys, onSingleKeys }: HelpProps) {
  const { issuer } = settings;
  return (
    <Stack>
      <Text component="h3" fw={600}>
        Keyboard
      </Text>
      <Facts labelWidth="9rem" facts={keys.map(([key, action]) => [<Kbd key={key}>{key}</Kbd>, action])} />
      <Switch
        size="sm"
        label="Single-key shortcuts"
        checked={hasSingleKeys}
        onChange={({ currentTarget }) => onSingleKeys(currentTarget.checked)}
      />
      <Text component="h3" fw={600}>
        Endpoints
      </Text>
      <CopyField
        label="Issuer"
        value={issuer}
        hint="Same for all projects. Libraries discover all endpoints from it."
      />
      <CopyField label="Discovery document" value={`${issuer}/.well-known/openid-configuration`} />
      <CopyField label="Signing keys (JWKS)" value={`${issuer}/.well-known/jwks.json`} />
      <CopyField
        label="Admin API (GraphQL)"
        value={`${issuer}/admin/graphql`}
        hint="The console uses this API for everything."
      />
    </Stack>
  );
}
