import { Group, Menu } from '@mantine/core';
import { useState } from 'react';
import { useMutation } from '../../api.ts';
import {
  type ApiKeyKind,
  type ApiKeyRowFragment,
  ClientById,
  IssueApiKey,
  RevokeApiKey,
} from '../../generated/operations.ts';
import { lower, t } from '../../language/language.ts';
import { rich } from '../../language/rich.tsx';
import { useProjectPath } from '../../projects/project.tsx';
import { AddButton, LinkButton } from '../../ui/buttons.tsx';
import { Code } from '../../ui/code/code.tsx';
import { CopyButton } from '../../ui/code/copy.tsx';
import { request, ShowGraphql } from '../../ui/code/show-graphql.tsx';
import { Empty } from '../../ui/feedback/empty.tsx';
import { FormError } from '../../ui/feedback/errors.tsx';
import { type Confirmation, useDialog } from '../../ui/feedback/use-dialog.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { type Column, DataTable } from '../../ui/lists/data-table.tsx';
import { LastUse, NewSecret } from '../../ui/secrets/secret.tsx';
import type { ClientPartProps } from '../client-part.ts';
import { ClientSecrets } from './client-secrets.tsx';
import { DelegationKeys } from './delegation-keys.tsx';
import { lifeColumns, revokeColumn } from './key-columns.tsx';

type Key = ApiKeyRowFragment;

const kinds = {
  PUBLISHABLE: {
    name: t('Publishable key'),
    prefix: 'lk_pk_',
    hint: t('For @latchkey/browser. Safe to use in the browser.'),
  },
  SECRET: { name: t('Secret key'), prefix: 'lk_sk_', hint: t('For @latchkey/node. Server only.') },
} as const;

const nameOf = ({ kind, hint }: Key) => `${kinds[kind].prefix}…${hint}`;

/** A publishable key can be copied at any time. */
function KeyName(key: Key) {
  return (
    <Group component="span" gap={4} wrap="nowrap">
      <code>{nameOf(key)}</code>
      {key.value && <CopyButton value={key.value} label={nameOf(key)} />}
    </Group>
  );
}

const columns: Column<Key>[] = [
  { header: t('Key'), isName: true, cell: KeyName },
  { header: t('Kind'), cell: ({ kind }) => kinds[kind].name },
  ...lifeColumns,
];

/** All keys and secrets of the application. */
export function ClientKeys(props: ClientPartProps) {
  return (
    <>
      <ApiKeys {...props} />
      <ClientSecrets {...props} />
      <AssertionKey {...props} />
      <DelegationKeys {...props} />
    </>
  );
}

/** Several of a kind may be live at once, for rotation without downtime. */
function ApiKeys({ client, mayChange }: ClientPartProps) {
  const [issued, setIssued] = useState<{ kind: ApiKeyKind; key: string }>();
  const [dialog, { confirm }] = useDialog();
  const [issue, issuing, failure] = useMutation(IssueApiKey, [ClientById]);
  const revoke = (key: Key) => {
    const live = client.apiKeys.filter(({ kind, revokedAt }) => kind === key.kind && revokedAt === null);
    confirm(revocation(key, live.length === 1));
  };

  const make = async (kind: ApiKeyKind) => {
    const outcome = await issue({ clientId: client.id, kind });
    if (outcome.data) setIssued({ kind, key: outcome.data.issueApiKey.key });
  };
  const newKind = kinds[issued?.kind ?? 'SECRET'];
  return (
    <>
      <Section
        flush
        title={t('API keys')}
        lead={t('To rotate: create a new key, deploy it, then revoke the old one.')}
        actions={
          mayChange && (
            <>
              <ShowGraphql operation={IssueApiKey} variables={{ clientId: client.id, kind: 'SECRET' as const }} />
              <NewKey busy={issuing} onChoose={(kind) => void make(kind)} />
            </>
          )
        }
      >
        <FormError failure={failure} />
        <DataTable
          label={t('API keys')}
          columns={[...columns, mayChange && revokeColumn(nameOf, revoke)]}
          rows={client.apiKeys}
          empty={
            <Empty icon="key" title={t('No keys')}>
              {t('Only the SDKs need keys, not the hosted sign-in page.')}
            </Empty>
          }
        />
      </Section>
      <NewSecret
        title={t('New {name}', { name: lower(newKind.name) })}
        fileName={`${client.id}.key.txt`}
        label={newKind.name}
        value={issued?.key}
        hint={newKind.hint}
        isPublic={newKind === kinds.PUBLISHABLE}
        onDone={() => setIssued(undefined)}
      />
      {dialog}
    </>
  );
}

/** @param isLast of its kind */
const revocation = (key: Key, isLast: boolean): Confirmation => ({
  title: t('Revoke this key?'),
  effect: (
    <>
      <p>{rich('Requests with <code>{key}</code> fail immediately. This cannot be undone.', { key: nameOf(key) })}</p>
      <p>
        <LastUse at={key.lastUsedAt} />{' '}
        {isLast && t('It is the last live {name}.', { name: lower(kinds[key.kind].name) })}
      </p>
    </>
  ),
  verb: t('Revoke key'),
  request: request(RevokeApiKey, { id: key.id }),
  invalidates: [ClientById],
  done: t('{name} revoked', { name: nameOf(key) }),
});

function AssertionKey({ client, mayChange }: ClientPartProps) {
  const path = useProjectPath();
  return (
    <Section
      title={t('Client key')}
      lead={t('Public key for client assertions (private_key_jwt)')}
      actions={
        mayChange && (
          <LinkButton to={path(`applications/${client.id}/settings`)}>
            {client.jwks ? t('Replace') : t('Set up')}
          </LinkButton>
        )
      }
    >
      {client.jwks ? (
        <Code label={t('JWK Set')} code={JSON.stringify(client.jwks, null, 2)} />
      ) : (
        <p>{t('Not set up')}</p>
      )}
    </Section>
  );
}

function NewKey({ busy, onChoose }: { busy: boolean; onChoose(kind: ApiKeyKind): void }) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <AddButton loading={busy}>{t('Create key')}</AddButton>
      </Menu.Target>
      <Menu.Dropdown>
        {Object.entries(kinds).map(([kind, { name, hint }]) => (
          <Menu.Item key={kind} onClick={() => onChoose(kind as ApiKeyKind)}>
            <strong>{name}</strong>
            <br />
            {hint}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
