import { Badge, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from '../../api.ts';
import {
  ClientById,
  type DelegationKeyRowFragment,
  DelegationKeys as DelegationKeysQuery,
  RegisterDelegationKeys,
  RevokeDelegationKey,
  RotateDelegationKeys,
} from '../../generated/operations.ts';
import { lower, t } from '../../language/language.ts';
import { AddButton, SecondaryButton } from '../../ui/buttons.tsx';
import { Code } from '../../ui/code/code.tsx';
import { IdChip } from '../../ui/code/copy.tsx';
import { request } from '../../ui/code/show-graphql.tsx';
import { Empty } from '../../ui/feedback/empty.tsx';
import { type Confirmation, useDialog } from '../../ui/feedback/use-dialog.tsx';
import { saveFile } from '../../ui/files/save-file.ts';
import { DialogForm } from '../../ui/forms/dialog-form.tsx';
import { useDialogForm } from '../../ui/forms/use-dialog-form.ts';
import { Icon } from '../../ui/icon.tsx';
import { actionColumn, type Column } from '../../ui/lists/data-table.tsx';
import { TableSection } from '../../ui/lists/table-section.tsx';
import { isLive } from '../../ui/secrets/expiry.ts';
import { Time } from '../../ui/time.tsx';
import type { ClientPartProps } from '../client-part.ts';
import styles from './delegation-keys.module.css';
import { makePair } from './pem.ts';

type Key = DelegationKeyRowFragment;

const queries = [ClientById, DelegationKeysQuery];
const sides = { SP: t('Your server'), IDP: t('This instance') } as const;
const labelOf = ({ party }: Key) => t('Revoke the keys of {party}', { party: lower(sides[party]) });

const columns: Column<Key>[] = [
  { header: t('Belongs to'), isName: true, cell: ({ party }) => sides[party] },
  {
    header: t('Signing key'),
    cell: ({ signingKid }) => <IdChip id={signingKid} label={t('signing key thumbprint')} />,
  },
  {
    header: t('Encryption key'),
    cell: ({ encryptionKid }) => <IdChip id={encryptionKid} label={t('encryption key thumbprint')} />,
  },
  {
    header: t('Status'),
    cell: (key) =>
      isLive(key) ? (
        <Badge color="good">{key.expiresAt ? t('Ending') : t('Live')}</Badge>
      ) : (
        <Badge color="bad">{t('Ended')}</Badge>
      ),
  },
  { header: t('Expires'), cell: ({ expiresAt }) => <Time at={expiresAt} fallback={t('When replaced')} /> },
];

/** Delegation keys of both sides. A back end uses them to manage second factors on its own pages. */
export function DelegationKeys({ client, mayChange }: ClientPartProps) {
  const { data } = useQuery(DelegationKeysQuery, { clientId: client.id });
  const [dialog, { open, confirm }] = useDialog();
  const keys = data?.client?.delegationKeys;
  const ours = keys?.find((key) => key.party === 'IDP' && isLive(key));
  const register = () =>
    open(t("Register your server's keys"), (close) => <RegisterForm clientId={client.id} onClose={close} />, 'lg');
  return (
    <TableSection
      title={t('Delegation keys')}
      lead={t(
        'Lets your server change second factors over signed and encrypted requests (DelegationClient of @latchkey/node).',
      )}
      actions={
        mayChange && (
          <>
            {ours && (
              <SecondaryButton onClick={() => confirm(rotation(client.id))}>
                {t('New keys of this instance')}
              </SecondaryButton>
            )}
            <AddButton variant="default" onClick={register}>
              {t('Register your keys')}
            </AddButton>
          </>
        )
      }
      columns={[...columns, mayChange && actionColumn(t('Revoke'), labelOf, (key) => confirm(revocation(key)), isLive)]}
      rows={keys}
      skeletonRows={2}
      empty={
        <Empty icon="key" title={t('Not set up')}>
          {t('Needed only to change second factors on your own pages.')}
        </Empty>
      }
    >
      {ours && (
        <Stack gap="sm" className={styles.ours ?? ''}>
          <p>{t('Environment variables for your server:')}</p>
          <Pem name="IDP_ED25519_PUBLIC_KEY_PEM" text={ours.signingPublicPem} />
          <Pem name="IDP_X25519_PUBLIC_KEY_PEM" text={ours.encryptionPublicPem} />
        </Stack>
      )}
      {dialog}
    </TableSection>
  );
}

const rotation = (clientId: string): Confirmation => ({
  title: t('New keys of this instance?'),
  effect: <p>{t('Current keys stay valid for a week: deploy the new public keys to your server by then.')}</p>,
  verb: t('Generate keys'),
  request: request(RotateDelegationKeys, { input: { clientId } }),
  invalidates: queries,
  done: t('Keys generated'),
});

const revocation = ({ id, party }: Key): Confirmation => ({
  title: t('Revoke the keys of {party}?', { party: lower(sides[party]) }),
  effect: <p>{t('Delegation requests with these keys fail immediately. Sign-in is unaffected.')}</p>,
  verb: t('Revoke keys'),
  request: request(RevokeDelegationKey, { id }),
  invalidates: queries,
  done: t('Keys revoked'),
});

function Pem({ name, text }: { name: string; text: string }) {
  return (
    <div>
      <Text component="code" c="dimmed">
        {name}
      </Text>
      <Code code={text.trim()} label={name} />
    </div>
  );
}

function RegisterForm({ clientId, onClose }: { clientId: string; onClose(): void }) {
  const [note, setNote] = useState<string>();
  const form = useDialogForm({
    initial: { signingKey: '', encryptionKey: '' },
    request: (values) => request(RegisterDelegationKeys, { input: { clientId, ...values } }),
    invalidates: queries,
    done: t('Keys registered'),
    onClose,
  });
  const { signingKey, encryptionKey } = form.values;
  const generate = async () => {
    try {
      const [signing, encryption] = [await makePair('Ed25519'), await makePair('X25519')];
      saveFile('SP_ED25519_PRIVATE_KEY.pem', signing.privatePem, 'application/x-pem-file');
      saveFile('SP_X25519_PRIVATE_KEY.pem', encryption.privatePem, 'application/x-pem-file');
      form.set({ signingKey: signing.publicPem, encryptionKey: encryption.publicPem });
      setNote(t('Generated in this browser. The private keys were downloaded as two files and are not stored.'));
    } catch {
      setNote(t('This browser cannot generate these keys. Use: openssl genpkey -algorithm ed25519 (and x25519)'));
    }
  };
  const pem = { autosize: true, minRows: 3, spellCheck: false, styles: { input: { fontFamily: 'var(--mono)' } } };
  return (
    <DialogForm {...form.props} verb={t('Register')} disabled={!signingKey.trim() || !encryptionKey.trim()}>
      <div>
        <SecondaryButton leftSection={<Icon name="key" size={16} />} onClick={generate}>
          {t('Generate key pairs')}
        </SecondaryButton>
      </div>
      {note && (
        <Text role="status" fz="xs" c="dimmed">
          {note}
        </Text>
      )}
      <Textarea label={t('Signing key (Ed25519, public, PEM)')} {...pem} {...form.field('signingKey')} />
      <Textarea label={t('Encryption key (X25519, public, PEM)')} {...pem} {...form.field('encryptionKey')} />
      <Text fz="xs" c="dimmed">
        {t('Previous keys of your server stay valid for a week.')}
      </Text>
    </DialogForm>
  );
}
