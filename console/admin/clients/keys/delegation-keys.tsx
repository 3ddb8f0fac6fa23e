import { Badge, Button, Modal, Textarea } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useMutation, useQuery } from '../../api.ts';
import type { Failure } from '../../failure.ts';
import {
  ClientById,
  type DelegationKeyRowFragment,
  DelegationKeys as DelegationKeysQuery,
  RegisterDelegationKeys,
  RevokeDelegationKey,
  RotateDelegationKeys,
} from '../../generated/operations.ts';
import { CopyButton, IdChip } from '../../ui/code/copy.tsx';
import { request, ShowGraphql } from '../../ui/code/show-graphql.tsx';
import { Confirm } from '../../ui/feedback/confirm.tsx';
import { Empty } from '../../ui/feedback/empty.tsx';
import { FormError } from '../../ui/feedback/errors.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { saveFile } from '../../ui/files/save-file.ts';
import { Icon } from '../../ui/icon.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { type Column, DataTable } from '../../ui/lists/data-table.tsx';
import { Time } from '../../ui/time.tsx';
import type { ClientPartProps } from '../client-part.ts';
import styles from './delegation-keys.module.css';
import { makePair } from './pem.ts';

type Key = DelegationKeyRowFragment;

const sides = { SP: 'Your server', IDP: 'This instance' } as const;
const isLive = ({ expiresAt }: Key) => !expiresAt || new Date(expiresAt).getTime() > Date.now();

/** Delegation keys of both sides. A back end uses them to manage second factors on its own pages. */
export function DelegationKeys({ client, mayChange }: ClientPartProps) {
  const { data, reload } = useQuery(DelegationKeysQuery, { clientId: client.id });
  const [asking, setAsking] = useState<'register' | 'rotate'>();
  const [revoking, setRevoking] = useState<Key>();
  const [failure, setFailure] = useState<Failure>();
  const [rotate, rotating] = useMutation(RotateDelegationKeys, [ClientById, DelegationKeysQuery]);
  const [revoke, isRevoking] = useMutation(RevokeDelegationKey, [ClientById, DelegationKeysQuery]);
  const keys = data?.client?.delegationKeys;
  const ours = keys?.find((key) => key.party === 'IDP' && isLive(key));
  const close = () => {
    setAsking(undefined);
    setRevoking(undefined);
    setFailure(undefined);
  };
  const done = (outcome: { data?: unknown; failure?: Failure | undefined }, text: string) => {
    setFailure(outcome.failure);
    if (!outcome.data) return;
    toast(text);
    close();
    reload();
  };
  const columns: Column<Key>[] = [
    { header: 'Whose', isName: true, cell: ({ party }) => sides[party] },
    { header: 'Signing key', cell: ({ signingKid }) => <IdChip id={signingKid} label="signing key thumbprint" /> },
    {
      header: 'Encryption key',
      cell: ({ encryptionKid }) => <IdChip id={encryptionKid} label="encryption key thumbprint" />,
    },
    {
      header: 'Status',
      cell: (key) =>
        isLive(key) ? (
          <Badge color="good">{key.expiresAt ? 'Ending' : 'Live'}</Badge>
        ) : (
          <Badge color="bad">Ended</Badge>
        ),
    },
    { header: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} fallback="When replaced" /> },
  ];
  if (mayChange) {
    columns.push({
      header: '',
      align: 'end',
      cell: (key) =>
        isLive(key) && (
          <Button
            variant="subtle"
            color="red"
            size="compact-sm"
            onClick={() => setRevoking(key)}
            aria-label={`Revoke the keys of ${sides[key.party].toLowerCase()}`}
          >
            Revoke
          </Button>
        ),
    });
  }
  return (
    <Section
      flush
      title="Delegation keys"
      lead="Lets your server change second factors over signed and encrypted requests (DelegationClient of @latchkey/node)."
      actions={
        mayChange && (
          <>
            {ours && (
              <Button variant="default" onClick={() => setAsking('rotate')}>
                New keys of this instance
              </Button>
            )}
            <Button
              variant="default"
              leftSection={<Icon name="plus" size={16} />}
              onClick={() => setAsking('register')}
            >
              Register your keys
            </Button>
          </>
        )
      }
    >
      <DataTable
        label="Delegation keys"
        columns={columns}
        rows={keys}
        keyOf={({ id }) => id}
        skeletonRows={2}
        empty={
          <Empty icon="key" title="Not set up">
            Needed only to change second factors on your own pages.
          </Empty>
        }
      />
      {ours && (
        <div className={styles.ours}>
          <p>Environment variables for your server:</p>
          <Pem name="IDP_ED25519_PUBLIC_KEY_PEM" text={ours.signingPublicPem} />
          <Pem name="IDP_X25519_PUBLIC_KEY_PEM" text={ours.encryptionPublicPem} />
        </div>
      )}
      <Modal
        opened={asking === 'register'}
        onClose={close}
        title="Register your server's keys"
        size="lg"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {asking === 'register' && (
          <RegisterForm
            clientId={client.id}
            onDone={(outcome) => done(outcome, 'Keys registered')}
            onClose={close}
            failure={failure}
          />
        )}
      </Modal>
      <Confirm
        opened={asking === 'rotate'}
        title="New keys of this instance?"
        verb="Generate keys"
        busy={rotating}
        failure={failure}
        graphql={request(RotateDelegationKeys, { input: { clientId: client.id } })}
        onClose={close}
        onConfirm={async () => done(await rotate({ input: { clientId: client.id } }), 'Keys generated')}
      >
        <p>Current keys stay valid for a week: deploy the new public keys to your server by then.</p>
      </Confirm>
      <Confirm
        opened={revoking !== undefined}
        title={revoking ? `Revoke the keys of ${sides[revoking.party].toLowerCase()}?` : ''}
        verb="Revoke keys"
        busy={isRevoking}
        failure={failure}
        graphql={revoking && request(RevokeDelegationKey, { id: revoking.id })}
        onClose={close}
        onConfirm={async () => {
          if (revoking) done(await revoke({ id: revoking.id }), 'Keys revoked');
        }}
      >
        <p>Delegation requests with these keys fail at once. Sign-in is unaffected.</p>
      </Confirm>
    </Section>
  );
}

function Pem({ name, text }: { name: string; text: string }) {
  return (
    <div className={styles.pem}>
      <code>{name}</code>
      <pre>{text.trim()}</pre>
      <CopyButton value={text} label={name} />
    </div>
  );
}

interface RegisterFormProps {
  clientId: string;
  failure: Failure | undefined;
  onDone(outcome: { data?: unknown; failure?: Failure | undefined }): void;
  onClose(): void;
}

function RegisterForm({ clientId, failure, onDone, onClose }: RegisterFormProps) {
  const [signingKey, setSigningKey] = useState('');
  const [encryptionKey, setEncryptionKey] = useState('');
  const [note, setNote] = useState<string>();
  const [register, busy] = useMutation(RegisterDelegationKeys, [ClientById, DelegationKeysQuery]);
  const generate = async () => {
    try {
      const [signing, encryption] = [await makePair('Ed25519'), await makePair('X25519')];
      saveFile('SP_ED25519_PRIVATE_KEY.pem', signing.privatePem, 'application/x-pem-file');
      saveFile('SP_X25519_PRIVATE_KEY.pem', encryption.privatePem, 'application/x-pem-file');
      setSigningKey(signing.publicPem);
      setEncryptionKey(encryption.publicPem);
      setNote('Generated in this browser. The private keys were downloaded as two files and are not stored.');
    } catch {
      setNote('This browser cannot generate these keys. Use: openssl genpkey -algorithm ed25519 (and x25519)');
    }
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    onDone(await register({ input: { clientId, signingKey, encryptionKey } }));
  };
  const faultOf = (field: string) => (failure?.field === field ? failure.message : undefined);
  return (
    <form className={styles.form} onSubmit={submit}>
      <div>
        <Button variant="default" leftSection={<Icon name="key" size={16} />} onClick={generate}>
          Generate key pairs
        </Button>
      </div>
      {note && (
        <p role="status" className={styles.note}>
          {note}
        </p>
      )}
      <Textarea
        label="Signing key (Ed25519, public, PEM)"
        autosize
        minRows={3}
        spellCheck={false}
        value={signingKey}
        error={faultOf('signingKey')}
        onChange={(event) => setSigningKey(event.currentTarget.value)}
      />
      <Textarea
        label="Encryption key (X25519, public, PEM)"
        autosize
        minRows={3}
        spellCheck={false}
        value={encryptionKey}
        error={faultOf('encryptionKey')}
        onChange={(event) => setEncryptionKey(event.currentTarget.value)}
      />
      <p className={styles.note}>Previous keys of your server stay valid for a week.</p>
      <FormError failure={failure?.field ? undefined : failure} />
      <div className={styles.actions}>
        <ShowGraphql
          operation={RegisterDelegationKeys}
          variables={{ input: { clientId, signingKey, encryptionKey } }}
        />
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" loading={busy} disabled={!signingKey.trim() || !encryptionKey.trim()}>
          Register
        </Button>
      </div>
    </form>
  );
}
