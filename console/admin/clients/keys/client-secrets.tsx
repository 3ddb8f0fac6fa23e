import { useState } from 'react';
import { useMutation } from '../../api.ts';
import {
  ClientById,
  type ClientSecretRowFragment,
  IssueClientSecret,
  RevokeClientSecret,
} from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { rich } from '../../language/rich.tsx';
import { useProject } from '../../projects/project.tsx';
import { AddButton } from '../../ui/buttons.tsx';
import { request } from '../../ui/code/show-graphql.tsx';
import { Empty } from '../../ui/feedback/empty.tsx';
import { FormError } from '../../ui/feedback/errors.tsx';
import { type Confirmation, useDialog } from '../../ui/feedback/use-dialog.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { type Column, DataTable } from '../../ui/lists/data-table.tsx';
import { LastUse, NewSecret } from '../../ui/secrets/secret.tsx';
import type { ClientPartProps } from '../client-part.ts';
import { hasSecret } from '../kind.ts';
import { lifeColumns, revokeColumn } from './key-columns.tsx';

type Secret = ClientSecretRowFragment;

const maxLive = 2;
const nameOf = ({ hint }: Secret) => `lk_cs_…${hint}`;

const columns: Column<Secret>[] = [
  { header: t('Secret'), isName: true, cell: (secret) => <code>{nameOf(secret)}</code> },
  ...lifeColumns,
];

/** The application's client secrets: one in use and, for rotation, its successor. */
export function ClientSecrets({ client, mayChange }: ClientPartProps) {
  const project = useProject();
  const [issued, setIssued] = useState<string>();
  const [dialog, { confirm }] = useDialog();
  const [issue, issuing, failure] = useMutation(IssueClientSecret, [ClientById]);
  const live = client.clientSecrets.filter(({ revokedAt }) => revokedAt === null);
  if (!hasSecret(client.tokenEndpointAuthMethod) && live.length === 0) return null;

  const make = async () => {
    const outcome = await issue({ clientId: client.id });
    if (outcome.data) setIssued(outcome.data.issueClientSecret.secret);
  };
  const revoke = (secret: Secret) => confirm(revocation(secret, live.length === 1));
  return (
    <>
      <Section
        flush
        title={t('Client secrets')}
        lead={t('For the issuer {issuer}. To rotate: create the second, deploy it, then revoke the first.', {
          issuer: project.issuer,
        })}
        actions={
          mayChange && (
            <AddButton loading={issuing} disabled={live.length >= maxLive} onClick={() => void make()}>
              {t('Create secret')}
            </AddButton>
          )
        }
      >
        <FormError failure={failure} />
        <DataTable
          label={t('Client secrets')}
          columns={[...columns, mayChange && revokeColumn(nameOf, revoke)]}
          rows={client.clientSecrets}
          empty={
            <Empty icon="key" title={t('No secrets')}>
              {t('This application cannot redeem codes until it has one.')}
            </Empty>
          }
        />
      </Section>
      <NewSecret
        title={t('New client secret')}
        fileName={`${client.id}.secret.txt`}
        label={t('Client secret')}
        value={issued}
        hint={t('Server only.')}
        onDone={() => setIssued(undefined)}
      />
      {dialog}
    </>
  );
}

const revocation = (secret: Secret, isLast: boolean): Confirmation => ({
  title: t('Revoke this secret?'),
  effect: (
    <>
      <p>
        {rich('Token requests with <code>{key}</code> fail immediately. This cannot be undone.', {
          key: nameOf(secret),
        })}
      </p>
      <p>
        <LastUse at={secret.lastUsedAt} /> {isLast && t('It is the last live secret.')}
      </p>
    </>
  ),
  verb: t('Revoke secret'),
  request: request(RevokeClientSecret, { id: secret.id }),
  invalidates: [ClientById],
  done: t('{name} revoked', { name: nameOf(secret) }),
});
