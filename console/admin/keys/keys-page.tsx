import { Badge, Button } from '@mantine/core';
import { useState } from 'react';
import { useMutation, useQuery } from '../api.ts';
import type { Failure } from '../failure.ts';
import {
  RotateSigningKeys,
  type SigningKeyRowFragment,
  SigningKeys,
  SystemLevel,
  WithdrawSigningKey,
} from '../generated/operations.ts';
import { settings } from '../settings.ts';
import { CopyField, IdChip } from '../ui/code/copy.tsx';
import { Confirm } from '../ui/feedback/confirm.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import { type Column, DataTable } from '../ui/lists/data-table.tsx';
import { Time } from '../ui/time.tsx';

type Key = SigningKeyRowFragment;

const uses = { ES512: 'ID tokens, logout tokens', EDDSA: 'Access tokens' } as const;
const algs = { ES512: 'ES512', EDDSA: 'EdDSA' } as const;

function phaseOf({ signing, signsFrom, withdrawnAt }: Key) {
  if (withdrawnAt) return 'withdrawn';
  if (signing) return 'active';
  return new Date(signsFrom).getTime() > Date.now() ? 'next' : 'retired';
}

const phases = {
  active: ['good', 'Active'],
  next: ['accent', 'Next'],
  retired: ['neutral', 'Retired'],
  withdrawn: ['bad', 'Withdrawn'],
} as const;

/** Signing keys of the issuer by phase: current, next, retired. */
export function Component() {
  const { data, failure: unread, reload } = useQuery(SigningKeys, {});
  const [rotating, setRotating] = useState(false);
  const [withdrawing, setWithdrawing] = useState<Key>();
  const [failure, setFailure] = useState<Failure>();
  const [rotate, isRotating] = useMutation(RotateSigningKeys, [SigningKeys, SystemLevel]);
  const [withdraw, isWithdrawing] = useMutation(WithdrawSigningKey, [SigningKeys, SystemLevel]);
  const keys = data?.signingKeys;
  const columns: Column<Key>[] = [
    { header: 'Key ID', isName: true, cell: ({ id }) => <IdChip id={id} label="key ID" /> },
    { header: 'Algorithm', cell: ({ alg }) => `${algs[alg]}: ${uses[alg]}` },
    {
      header: 'Status',
      cell: (key) => {
        const [tone, text] = phases[phaseOf(key)];
        return <Badge color={tone}>{text}</Badge>;
      },
    },
    { header: 'Signs from', cell: ({ signsFrom }) => <Time at={signsFrom} /> },
    { header: 'Signs until', cell: ({ signsUntil }) => <Time at={signsUntil} fallback="Until replaced" /> },
    {
      header: 'Published until',
      cell: ({ withdrawnAt, publishedUntil }) => <Time at={withdrawnAt ?? publishedUntil} fallback="–" />,
    },
    {
      header: '',
      align: 'end',
      cell: (key) =>
        key.withdrawnAt === null && (
          <Button
            variant="subtle"
            color="red"
            size="compact-sm"
            onClick={() => setWithdrawing(key)}
            aria-label={`Withdraw the key ${key.id}`}
          >
            Withdraw
          </Button>
        ),
    },
  ];
  const close = () => {
    setRotating(false);
    setWithdrawing(undefined);
    setFailure(undefined);
  };
  const done = (outcome: { data?: unknown; failure?: Failure | undefined }, text: string) => {
    setFailure(outcome.failure);
    if (!outcome.data) return;
    toast(text);
    close();
  };
  return (
    <Page
      title="Signing keys"
      lead="Keys are published a day before use, and until their last token expires."
      actions={<Button onClick={() => setRotating(true)}>Rotate keys</Button>}
    >
      {unread && !keys ? (
        <LoadError failure={unread} subject="the list of keys" retry={reload} />
      ) : (
        <Section flush>
          <DataTable
            label="Signing keys"
            columns={columns}
            rows={keys}
            keyOf={({ id }) => id}
            skeletonRows={2}
            empty={<Empty icon="lock" title="No key yet" />}
          />
        </Section>
      )}
      <Section title="JWKS" lead="Relying parties fetch public keys here, and refetch on an unknown key ID.">
        <CopyField label="JWKS" value={`${settings.issuer}/.well-known/jwks.json`} />
      </Section>
      <Confirm
        opened={rotating}
        title="Rotate the keys?"
        verb="Rotate keys"
        busy={isRotating}
        failure={failure}
        onClose={close}
        onConfirm={async () => done(await rotate({}), 'New keys published')}
      >
        <p>New keys are published now and sign from tomorrow. Existing tokens stay valid.</p>
        <p>No one is signed out. Relying parties need no change. Keys also rotate automatically.</p>
      </Confirm>
      <Confirm
        opened={withdrawing !== undefined}
        title="Withdraw this key at once?"
        verb="Withdraw key"
        name={withdrawing ? withdrawing.id.slice(0, 8) : undefined}
        busy={isWithdrawing}
        failure={failure}
        onClose={close}
        onConfirm={async () => {
          if (withdrawing) done(await withdraw({ id: withdrawing.id }), 'Key withdrawn');
        }}
      >
        <p>For leaked keys. Every token that it signed is refused at once, and it is no longer published.</p>
        <ul>
          <li>Relying parties that cached the key accept it until they refetch the JWKS.</li>
          <li>
            Another key takes over at once; relying parties with a stale JWKS may refuse sign-ins until they refetch.
          </li>
          <li>Sessions continue; no one signs in again.</li>
        </ul>
      </Confirm>
    </Page>
  );
}
