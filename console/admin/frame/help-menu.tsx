import { ActionIcon, Kbd, Modal, Stack, Text, Tooltip } from '@mantine/core';
import { useState } from 'react';
import { settings } from '../settings.ts';
import { CopyField } from '../ui/code/copy.tsx';
import { Icon } from '../ui/icon.tsx';
import { Facts } from '../ui/lists/facts.tsx';

const keys = [
  ['Ctrl K or ⌘ K', 'Search, or go somewhere'],
  ['Tab', 'Next control'],
  ['Esc', 'Close'],
] as const;

/** Links to documentation, and keyboard shortcuts. */
export function HelpMenu() {
  const [opened, setOpened] = useState(false);
  const { issuer } = settings;
  return (
    <>
      <Tooltip label="Help and endpoints">
        <ActionIcon
          variant="subtle"
          color="gray"
          c="dimmed"
          size="lg"
          onClick={() => setOpened(true)}
          aria-label="Help and endpoints"
        >
          <Icon name="help" />
        </ActionIcon>
      </Tooltip>
      <Modal opened={opened} onClose={() => setOpened(false)} title="Help and endpoints" size="lg">
        <Stack>
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
          <Text component="h3" fw={600}>
            Keyboard
          </Text>
          <Facts labelWidth="9rem" facts={keys.map(([key, action]) => [<Kbd key={key}>{key}</Kbd>, action])} />
        </Stack>
      </Modal>
    </>
  );
}
