import type { UserAccessQuery } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { methodNames } from '../signin/factor-values.ts';
import { Empty } from '../ui/feedback/empty.tsx';
import type { Column } from '../ui/lists/data-table.tsx';
import { TableSection } from '../ui/lists/table-section.tsx';
import { Time } from '../ui/time.tsx';

type Factor = UserAccessQuery['userAccess']['factors'][number];

const columns: readonly Column<Factor>[] = [
  { header: t('Factor'), isName: true, width: '26%', cell: ({ method }) => methodNames[method] },
  { header: t('Phone'), cell: ({ phone }) => phone ?? '–' },
  { header: t('Added'), cell: ({ verifiedAt }) => <Time at={verifiedAt} /> },
  { header: t('Last used'), cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
];

const withPasskey = t('The project requires one: the passkey counts.');

interface UserFactorsProps {
  factors: readonly Factor[] | undefined;
  recoveryCodesLeft: number;
  /** Whether the user has a passkey that counts as second factor. */
  hasPasskey: boolean;
  policy: 'OFF' | 'OPTIONAL' | 'REQUIRED';
}

/** Second factors and recovery codes. */
export function UserFactors({ factors, hasPasskey, recoveryCodesLeft, policy }: UserFactorsProps) {
  const codes = t('{count, plural, one {# recovery code} other {# recovery codes}} left.', {
    count: recoveryCodesLeft,
  });
  return (
    <TableSection
      title={t('Second factors')}
      lead={factors?.length ? codes : t('If lost, reset them under Actions.')}
      columns={columns}
      rows={factors}
      skeletonRows={1}
      empty={
        <Empty icon="shield" title={t('No second factors')}>
          {policy === 'REQUIRED' &&
            (hasPasskey ? withPasskey : t('The project requires one: the next sign-in enrolls it.'))}
        </Empty>
      }
    />
  );
}
