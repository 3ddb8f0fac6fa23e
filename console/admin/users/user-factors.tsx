import type { UserAccessQuery } from '../generated/operations.ts';
import { methodNames } from '../signin/factor-values.ts';
import { counted } from '../ui/counted.ts';
import { Empty } from '../ui/feedback/empty.tsx';
import { Section } from '../ui/layout/page.tsx';
import { type Column, DataTable } from '../ui/lists/data-table.tsx';
import { Time } from '../ui/time.tsx';

type Factor = UserAccessQuery['userAccess']['factors'][number];

const columns: readonly Column<Factor>[] = [
  { header: 'Factor', isName: true, width: '26%', cell: ({ method }) => methodNames[method] },
  { header: 'Phone', cell: ({ phone }) => phone ?? '–' },
  { header: 'Set up', cell: ({ verifiedAt }) => <Time at={verifiedAt} /> },
  { header: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
];

const withPasskey = 'The project requires one: the passkey counts.';

interface UserFactorsProps {
  factors: readonly Factor[] | undefined;
  recoveryCodesLeft: number;
  /** Whether the user has a passkey that counts as second factor. */
  hasPasskey: boolean;
  policy: 'OFF' | 'OPTIONAL' | 'REQUIRED';
}

/** Second factors and recovery codes. */
export function UserFactors({ factors, hasPasskey, recoveryCodesLeft, policy }: UserFactorsProps) {
  const codes = `${counted(recoveryCodesLeft, 'recovery code')} left.`;
  return (
    <Section flush title="Second factors" lead={factors?.length ? codes : 'If lost, reset them under Actions.'}>
      <DataTable
        label="Second factors"
        columns={columns}
        rows={factors}
        skeletonRows={1}
        empty={
          <Empty icon="shield" title="No second factor">
            {policy === 'REQUIRED' &&
              (hasPasskey ? withPasskey : 'The project requires one: the next sign-in enrolls it.')}
          </Empty>
        }
      />
    </Section>
  );
}
