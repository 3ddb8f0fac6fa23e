import { Button, Modal } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { Failure } from '../../failure.ts';
import { Confirm } from '../feedback/confirm.tsx';
import { Empty } from '../feedback/empty.tsx';
import { toast } from '../feedback/toast.tsx';
import { Icon } from '../icon.tsx';
import { Section } from '../layout/page.tsx';
import { type Column, DataTable } from '../lists/data-table.tsx';
import { Time } from '../time.tsx';
import { isLive, type Lifetime } from './expiry.ts';
import { Secrets } from './secret.tsx';
import { TokenBadge } from './token-badge.tsx';

/** Common fields of all token types; never the secret. */
export interface TokenRow extends Lifetime {
  id: string;
  name: string;
  hint: string;
  lastUsedAt?: string | null;
}

interface TokenListProps<Row extends TokenRow> {
  title: string;
  lead: string;
  /** Label of the table, for screen readers. */
  label: string;
  tokens: readonly Row[] | undefined;
  /** Prefix of the token; its last characters follow. */
  prefix: string;
  /** Extra columns between token and status. */
  columns?: Column<Row>[];
  /** Empty state: the purpose of these tokens. */
  empty: string;
  mayChange: boolean;
  mayIssue?: boolean;
  issueTitle: string;
  /** Form for a new token. */
  form(issued: (token: string) => void, close: () => void): ReactNode;
  /** Label and file name of the new token. */
  secret: { label: string; fileName: string };
  revoke(id: string): Promise<{ done: boolean; failure: Failure | undefined }>;
  revoking: boolean;
  /** Effect of revoking; `after` adds to it if the token has been used. */
  consequence(token: Row): { before: string; after?: string };
}

/** Tokens of one type: list, issue (shown once), revoke. */
export function TokenList<Row extends TokenRow>(props: TokenListProps<Row>) {
  const { tokens, mayChange, mayIssue = true, revoking } = props;
  const [isNew, setNew] = useState(false);
  const [issued, setIssued] = useState<string>();
  const [chosen, setChosen] = useState<Row>();
  const [failure, setFailure] = useState<Failure>();
  const close = () => {
    setNew(false);
    setIssued(undefined);
  };
  const revoke = async () => {
    if (!chosen) return;
    const outcome = await props.revoke(chosen.id);
    setFailure(outcome.failure);
    if (!outcome.done) return;
    toast(`${chosen.name} revoked`);
    setChosen(undefined);
  };
  const consequence = chosen && props.consequence(chosen);
  return (
    <Section
      flush
      title={props.title}
      lead={props.lead}
      actions={
        mayChange && (
          <Button
            variant="default"
            leftSection={<Icon name="plus" size={16} />}
            onClick={() => setNew(true)}
            disabled={!mayIssue}
          >
            Issue token
          </Button>
        )
      }
    >
      <DataTable
        label={props.label}
        columns={columnsOf(props, setChosen)}
        rows={tokens}
        keyOf={({ id }) => id}
        skeletonRows={2}
        empty={
          <Empty icon="key" title="No tokens yet">
            {props.empty}
          </Empty>
        }
      />
      <Modal
        opened={isNew}
        onClose={close}
        title={issued ? 'New token' : props.issueTitle}
        size="lg"
        withCloseButton={!issued}
        closeOnClickOutside={!issued}
        closeOnEscape={!issued}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {issued ? (
          <Secrets
            fileName={props.secret.fileName}
            secrets={[{ label: props.secret.label, value: issued }]}
            onDone={close}
          />
        ) : (
          isNew && props.form(setIssued, close)
        )}
      </Modal>
      <Confirm
        opened={chosen !== undefined}
        title={`Revoke ${chosen?.name ?? ''}?`}
        verb="Revoke token"
        busy={revoking}
        failure={failure}
        onClose={() => {
          setChosen(undefined);
          setFailure(undefined);
        }}
        onConfirm={revoke}
      >
        <p>{consequence?.before}</p>
        <p>
          {chosen?.lastUsedAt ? (
            <>
              It was last used <Time at={chosen.lastUsedAt} />.
            </>
          ) : (
            'It has never been used.'
          )}{' '}
          {consequence?.after}
        </p>
      </Confirm>
    </Section>
  );
}

function columnsOf<Row extends TokenRow>(
  { prefix, columns = [], mayChange }: TokenListProps<Row>,
  choose: (token: Row) => void,
): Column<Row>[] {
  const shown: Column<Row>[] = [
    { header: 'Name', isName: true, width: '28%', cell: ({ name }) => name },
    { header: 'Token', cell: ({ hint }) => <code>{`${prefix}…${hint}`}</code> },
    ...columns,
    { header: 'Status', cell: (token) => <TokenBadge token={token} /> },
    { header: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
    { header: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} fallback="Never" /> },
  ];
  if (!mayChange) return shown;
  const revoke: Column<Row> = {
    header: '',
    align: 'end',
    cell: (token) =>
      isLive(token) && (
        <Button
          variant="subtle"
          color="red"
          size="compact-sm"
          onClick={() => choose(token)}
          aria-label={`Revoke ${token.name}`}
        >
          Revoke
        </Button>
      ),
  };
  return [...shown, revoke];
}
