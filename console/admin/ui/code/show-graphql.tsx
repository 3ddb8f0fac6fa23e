import { Button, Group, Modal, Stack } from '@mantine/core';
import { useState } from 'react';
import type { Operation } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { settings } from '../../settings.ts';
import { Icon } from '../icon.tsx';
import { Code } from './code.tsx';
import { leaveDraft } from './explorer-draft.ts';

/** An operation with its variables, type-erased. */
export interface GraphqlRequest<Data = unknown> {
  operation: Operation<Data, never>;
  variables: object;
}

/** Builds a request with variables of the operation's type. */
export function request<Data, V extends object>(operation: Operation<Data, V>, variables: V): GraphqlRequest<Data> {
  return { operation, variables };
}

/** The equivalent API request of a form, for scripts. */
export function ShowGraphql<V extends object>({
  operation,
  variables,
}: {
  operation: Operation<unknown, V>;
  variables: V | object;
}) {
  const [opened, setOpened] = useState(false);
  return (
    <>
      <Button
        variant="subtle"
        color="gray"
        size="compact-sm"
        leftSection={<Icon name="code" size={16} />}
        onClick={() => setOpened(true)}
      >
        {t('Show GraphQL')}
      </Button>
      <Modal opened={opened} onClose={() => setOpened(false)} title={t('Admin API request')} size="xl">
        {opened && (
          <Stack>
            <Code label={t('GraphQL request')} code={asCurl(operation, variables)} />
            <Group>
              <Button
                component="a"
                href="/admin/explorer"
                target="_blank"
                variant="default"
                rightSection={<Icon name="external" size={14} />}
                onClick={() => leaveDraft({ query: operation, variables })}
                onAuxClick={() => leaveDraft({ query: operation, variables })}
              >
                {t('Open in API explorer')}
              </Button>
            </Group>
          </Stack>
        )}
      </Modal>
    </>
  );
}

function asCurl(query: string, variables: object): string {
  const body = JSON.stringify({ query, variables }, null, 2).replaceAll("'", "'\\''");
  return `curl ‹${settings.issuer}›/admin/graphql \\
  -H 'Authorization: Bearer <admin API token>' \\
  -H 'Content-Type: application/json' \\
  -d '${body}'`;
}
