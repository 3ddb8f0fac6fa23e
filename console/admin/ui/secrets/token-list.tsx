import { Modal } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { AnyOperation } from '../../api.ts';
import type { Operation } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { AddButton } from '../buttons.tsx';
import { request } from '../code/show-graphql.tsx';
import { Empty } from '../feedback/empty.tsx';
import { type Confirmation, useDialog } from '../feedback/use-dialog.tsx';
import { actionColumn, type Column, type Columns } from '../lists/data-table.tsx';
import { TableSection } from '../lists/table-section.tsx';
import { Time } from '../time.tsx';
import { isLive, type Lifetime } from './expiry.ts';
import { LastUse, Secrets, untilSaved } from './secret.tsx';
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
  /** Form for a new token. */
  form(issued: (token: string) => void, close: () => void): ReactNode;
  /** Label and file name of the new token. */
  secret: { label: string; fileName: string };
  revocation: { operation: Operation<unknown, { id: string }>; invalidates: readonly AnyOperation[] };
  /** Effect of revoking; `after` adds to it if the token has been used. */
  consequence(token: Row): { before: string; after?: string };
}

/** Tokens of one type: list, issue (shown once), revoke. */
export function TokenList<Row extends TokenRow>(props: TokenListProps<Row>) {
  const [dialog, { confirm }] = useDialog();
  return (
    <TableSection
      title={props.title}
      lead={props.lead}
      actions={props.mayChange && <IssueToken {...props} />}
      label={props.label}
      columns={columnsOf(props, (token) => confirm(revocation(props, token)))}
      rows={props.tokens}
      skeletonRows={2}
      empty={
        <Empty icon="key" title={t('No tokens yet')}>
          {props.empty}
        </Empty>
      }
    >
      {dialog}
    </TableSection>
  );
}

function revocation<Row extends TokenRow>(
  { revocation: { operation, invalidates }, consequence }: TokenListProps<Row>,
  token: Row,
): Confirmation {
  const { id, name, lastUsedAt } = token;
  const { before, after } = consequence(token);
  return {
    title: t('Revoke {name}?', { name }),
    effect: (
      <>
        <p>{before}</p>
        <p>
          <LastUse at={lastUsedAt} /> {after}
        </p>
      </>
    ),
    verb: t('Revoke token'),
    request: request(operation, { id }),
    invalidates,
    done: t('{name} revoked', { name }),
  };
}

function columnsOf<Row extends TokenRow>(
  { prefix, columns = [], mayChange }: TokenListProps<Row>,
  onRevoke: (token: Row) => void,
): Columns<Row> {
  return [
    { header: t('Name'), isName: true, width: '28%', cell: ({ name }) => name },
    { header: t('Token'), cell: ({ hint }) => <code style={{ whiteSpace: 'nowrap' }}>{`${prefix}…${hint}`}</code> },
    ...columns,
    { header: t('Status'), cell: (token) => <TokenBadge token={token} /> },
    { header: t('Last used'), cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
    { header: t('Expires'), cell: ({ expiresAt }) => <Time at={expiresAt} fallback={t('Never')} /> },
    mayChange && actionColumn<Row>(t('Revoke'), ({ name }) => t('Revoke {name}', { name }), onRevoke, isLive),
  ];
}

type IssueTokenProps = Pick<TokenListProps<TokenRow>, 'mayIssue' | 'form' | 'secret'>;

function IssueToken({ mayIssue = true, form, secret }: IssueTokenProps) {
  const [isNew, setNew] = useState(false);
  const [issued, setIssued] = useState<string>();
  const close = () => {
    setNew(false);
    setIssued(undefined);
  };
  return (
    <>
      <AddButton variant="default" onClick={() => setNew(true)} disabled={!mayIssue}>
        {t('Issue token')}
      </AddButton>
      <Modal
        opened={isNew}
        onClose={close}
        title={issued ? t('New token') : t('Issue token')}
        size="lg"
        {...(issued ? untilSaved : {})}
      >
        {issued ? (
          <Secrets fileName={secret.fileName} secrets={[{ label: secret.label, value: issued }]} onDone={close} />
        ) : (
          isNew && form(setIssued, close)
        )}
      </Modal>
    </>
  );
}
