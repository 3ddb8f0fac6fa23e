import { Badge, Button } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from '../api.ts';
import {
  RotateSigningKeys,
  type SigningKeyRowFragment,
  SigningKeys,
  SystemLevel,
  WithdrawSigningKey,
} from '../generated/operations.ts';
import { settings } from '../settings.ts';
import { CopyField, IdChip } from '../ui/code/copy.tsx';
import { ConfirmMutation } from '../ui/feedback/confirm.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import { actionColumn, type Column, DataTable } from '../ui/lists/data-table.tsx';
import { Time } from '../ui/time.tsx';

type Key = SigningKeyRowFragment;

const uses = {
  ES512: 'ID tokens, logout tokens',
  EDDSA: 'Access tokens; ID tokens of applications that chose EdDSA',
  ES256: 'ID and logout tokens of applications that chose ES256',
  RS256: 'ID and logout tokens of applications that chose RS256',
} as const;
const algs = { ES512: 'ES512', EDDSA: 'EdDSA', ES256: 'ES256', RS256: 'RS256' } as const;

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
  const { data, failure, reload } = useQuery(SigningKeys, {});
  const [rotating, setRotating] = useState(false);
  const [withdrawing, setWithdrawing] = useState<Key>();
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
    actionColumn<Key>(
      'Withdraw',
      ({ id }) => `Withdraw the key ${id}`,
      setWithdrawing,
      (key) => key.withdrawnAt === null,
    ),
  ];
  return (
    <Page
      title="Signing keys"
      lead="Keys are published a day before use, and until their last token expires."
      actions={<Button onClick={() => setRotating(true)}>Rotate keys</Button>}
    >
      {failure && !keys ? (
        <LoadError failure={failure} subject="the list of keys" retry={reload} />
      ) : (
        <Section flush>
          <DataTable
            label="Signing keys"
            columns={columns}
            rows={keys}
            skeletonRows={2}
            empty={<Empty icon="lock" title="No key yet" />}
          />
        </Section>
      )}
      <Section title="JWKS" lead="Relying parties fetch public keys here, and refetch on an unknown key ID.">
        <CopyField label="JWKS" value={`${settings.issuer}/.well-known/jwks.json`} />
      </Section>
      <ConfirmMutation
        title="Rotate the keys?"
        verb="Rotate keys"
        operation={RotateSigningKeys}
        variables={rotating ? {} : undefined}
        invalidates={[SigningKeys, SystemLevel]}
        done="New keys published"
        onClose={() => setRotating(false)}
      >
        <p>New keys are published now and sign from tomorrow. Existing tokens stay valid.</p>
        <p>No one is signed out. Relying parties need no change. Keys also rotate automatically.</p>
      </ConfirmMutation>
      <ConfirmMutation
        title="Withdraw this key at once?"
        verb="Withdraw key"
        name={withdrawing?.id.slice(0, 8)}
        operation={WithdrawSigningKey}
        variables={withdrawing && { id: withdrawing.id }}
        invalidates={[SigningKeys, SystemLevel]}
        done="Key withdrawn"
        onClose={() => setWithdrawing(undefined)}
      >
        <p>For leaked keys. Every token that it signed is refused at once, and it is no longer published.</p>
        <ul>
          <li>Relying parties that cached the key accept it until they refetch the JWKS.</li>
          <li>
            Another key takes over at once; relying parties with a stale JWKS may refuse sign-ins until they refetch.
          </li>
          <li>Sessions continue; no one signs in again.</li>
        </ul>
      </ConfirmMutation>
    </Page>
  );
}
