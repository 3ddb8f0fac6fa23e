import { Badge, Button } from '@mantine/core';
import { useQuery } from '../api.ts';
import {
  RotateSigningKeys,
  type SigningKeyRowFragment,
  SigningKeys,
  SystemLevel,
  WithdrawSigningKey,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { settings } from '../settings.ts';
import { CopyField, IdChip } from '../ui/code/copy.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { type Confirmation, useDialog } from '../ui/feedback/use-dialog.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import { actionColumn, type Column } from '../ui/lists/data-table.tsx';
import { TableSection } from '../ui/lists/table-section.tsx';
import { Time } from '../ui/time.tsx';

type Key = SigningKeyRowFragment;

const uses = {
  ES512: t('ID tokens, logout tokens'),
  EDDSA: t('Access tokens; ID tokens of applications that chose EdDSA'),
  ES256: t('ID and logout tokens of applications that chose ES256'),
  RS256: t('ID and logout tokens of applications that chose RS256'),
} as const;
const algs = { ES512: 'ES512', EDDSA: 'EdDSA', ES256: 'ES256', RS256: 'RS256' } as const;

function phaseOf({ signing, signsFrom, withdrawnAt }: Key) {
  if (withdrawnAt) return 'withdrawn';
  if (signing) return 'active';
  return new Date(signsFrom).getTime() > Date.now() ? 'next' : 'retired';
}

const phases = {
  active: ['good', t('Active')],
  next: ['accent', t('Next')],
  retired: ['neutral', t('Retired')],
  withdrawn: ['bad', t('Withdrawn')],
} as const;

const columns: Column<Key>[] = [
  { header: t('Key ID'), isName: true, cell: ({ id }) => <IdChip id={id} label={t('key ID')} /> },
  { header: t('Algorithm'), cell: ({ alg }) => `${algs[alg]}: ${uses[alg]}` },
  {
    header: t('Status'),
    cell: (key) => {
      const [tone, text] = phases[phaseOf(key)];
      return <Badge color={tone}>{text}</Badge>;
    },
  },
  { header: t('Signs from'), cell: ({ signsFrom }) => <Time at={signsFrom} /> },
  { header: t('Signs until'), cell: ({ signsUntil }) => <Time at={signsUntil} fallback={t('Until replaced')} /> },
  {
    header: t('Published until'),
    cell: ({ withdrawnAt, publishedUntil }) => <Time at={withdrawnAt ?? publishedUntil} fallback="–" />,
  },
];

/** Signing keys of the issuer by phase: current, next, retired. */
export function Component() {
  const { data, failure, reload } = useQuery(SigningKeys, {});
  const [dialog, { confirm }] = useDialog();
  const keys = data?.signingKeys;
  const withdraw = actionColumn<Key>(
    t('Withdraw'),
    ({ id }) => t('Withdraw the key {id}', { id }),
    (key) => confirm(withdrawal(key)),
    (key) => key.withdrawnAt === null,
  );
  return (
    <Page
      title={t('Signing keys')}
      lead={t('Keys are published a day before use, and until their last token expires.')}
      actions={<Button onClick={() => confirm(rotation())}>{t('Rotate keys')}</Button>}
    >
      {failure && !keys ? (
        <LoadError failure={failure} subject={t('the list of keys')} retry={reload} />
      ) : (
        <TableSection
          label={t('Signing keys')}
          columns={[...columns, withdraw]}
          rows={keys}
          skeletonRows={2}
          empty={<Empty icon="lock" title={t('No keys yet')} />}
        />
      )}
      <Section title={t('JWKS')} lead={t('Relying parties fetch public keys here, and refetch on an unknown key ID.')}>
        <CopyField label={t('JWKS URL')} value={`${settings.issuer}/.well-known/jwks.json`} />
      </Section>
      {dialog}
    </Page>
  );
}

const rotation = (): Confirmation => ({
  title: t('Rotate the keys?'),
  effect: (
    <>
      <p>{t('New keys are published now and sign from tomorrow. Existing tokens stay valid.')}</p>
      <p>{t('Users stay signed in. Relying parties need no change. Keys also rotate automatically.')}</p>
    </>
  ),
  verb: t('Rotate keys'),
  isHarmless: true,
  request: request(RotateSigningKeys, {}),
  invalidates: [SigningKeys, SystemLevel],
  done: t('New keys published'),
});

const withdrawal = ({ id }: Key): Confirmation => ({
  title: t('Withdraw this key immediately?'),
  effect: (
    <>
      <p>{t('For leaked keys. Every token that it signed is refused immediately, and it is no longer published.')}</p>
      <ul>
        <li>{t('Relying parties that cached the key accept it until they refetch the JWKS.')}</li>
        <li>
          {t(
            'Another key takes over immediately; relying parties with a stale JWKS may refuse sign-ins until they refetch.',
          )}
        </li>
        <li>{t('Sessions continue: users do not sign in again.')}</li>
      </ul>
    </>
  ),
  verb: t('Withdraw key'),
  name: id.slice(0, 8),
  request: request(WithdrawSigningKey, { id }),
  invalidates: [SigningKeys, SystemLevel],
  done: t('Key withdrawn'),
});
