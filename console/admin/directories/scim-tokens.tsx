import { Button, Modal } from '@mantine/core';
import { useState } from 'react';
import { useWrite } from '../api.ts';
import type { Failure } from '../failure.ts';
import { RevokeScimToken, type ScimTokenRowFragment } from '../generated/operations.ts';
import { useProject } from '../projects/project.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { Empty } from '../ui/empty.tsx';
import { stateOf } from '../ui/expiry.ts';
import { Icon } from '../ui/icon.tsx';
import { Section } from '../ui/page.tsx';
import { Secrets } from '../ui/secret.tsx';
import { Time } from '../ui/time.tsx';
import { toast } from '../ui/toast.tsx';
import { TokenMark } from '../ui/token-mark.tsx';
import { IssueToken } from './issue-token.tsx';

export type ScimToken = ScimTokenRowFragment;

export const isLive = (token: ScimToken): boolean => ['live', 'ending'].includes(stateOf(token));

/** The directory's tokens: a new one can live beside the old one until the directory uses it. */
export function Tokens({ tokens, mayChange }: { tokens: readonly ScimToken[] | undefined; mayChange: boolean }) {
  const project = useProject();
  const [isNew, setNew] = useState(false);
  const [issued, setIssued] = useState<string>();
  const [revoking, setRevoking] = useState<ScimToken>();
  const [failure, setFailure] = useState<Failure>();
  const [revoke, busy] = useWrite(RevokeScimToken);
  const close = () => {
    setNew(false);
    setIssued(undefined);
  };
  const columns: Column<ScimToken>[] = [
    { header: 'Name', isName: true, cell: ({ name }) => name },
    { header: 'Token', cell: ({ hint }) => <code>lk_scim_…{hint}</code> },
    { header: 'State', cell: (token) => <TokenMark token={token} /> },
    { header: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
    { header: 'Ends', cell: ({ expiresAt }) => <Time at={expiresAt} fallback="No end" /> },
  ];
  if (mayChange) {
    columns.push({
      header: '',
      align: 'end',
      cell: (token) =>
        isLive(token) && (
          <Button
            variant="subtle"
            color="red"
            size="compact-sm"
            onClick={() => setRevoking(token)}
            aria-label={`Revoke ${token.name}`}
          >
            Revoke
          </Button>
        ),
    });
  }
  const others = tokens?.filter((token) => isLive(token) && token.id !== revoking?.id).length ?? 0;
  return (
    <Section
      flush
      title="Tokens"
      lead="To replace one without a gap: issue another, put it into the directory, see that the new one is used, revoke the old one."
      actions={
        mayChange && (
          <Button
            variant="default"
            leftSection={<Icon name="plus" size={16} />}
            onClick={() => setNew(true)}
            disabled={!project.scimEnabled}
          >
            Issue token
          </Button>
        )
      }
    >
      <DataTable
        label="Directory tokens"
        columns={columns}
        rows={tokens}
        keyOf={({ id }) => id}
        sketch={2}
        empty={
          <Empty icon="key" title="No token yet">
            A directory proves itself with a token. Without one, every SCIM request is refused.
          </Empty>
        }
      />
      <Modal
        opened={isNew}
        onClose={close}
        title={issued ? 'The new token' : 'Issue a token'}
        size="lg"
        withCloseButton={!issued}
        closeOnClickOutside={!issued}
        closeOnEscape={!issued}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {issued ? (
          <Secrets fileName="scim-token.txt" secrets={[{ label: 'SCIM token', value: issued }]} onDone={close} />
        ) : (
          <IssueToken projectId={project.id} onIssued={setIssued} />
        )}
      </Modal>
      <Confirm
        opened={revoking !== undefined}
        title={`Revoke ${revoking?.name ?? ''}?`}
        verb="Revoke token"
        busy={busy}
        failure={failure}
        onClose={() => {
          setRevoking(undefined);
          setFailure(undefined);
        }}
        onConfirm={async () => {
          if (!revoking) return;
          const outcome = await revoke({ id: revoking.id });
          setFailure(outcome.failure);
          if (!outcome.data) return;
          toast(`${revoking.name} is revoked`);
          setRevoking(undefined);
        }}
      >
        <p>The directory that uses it is refused from this moment. Users stay as they are.</p>
        <p>
          {revoking?.lastUsedAt ? (
            <>
              It was last used <Time at={revoking.lastUsedAt} />.
            </>
          ) : (
            'It has never been used.'
          )}{' '}
          {others === 0
            ? 'No other token is live: the sync stops.'
            : `${others} other${others === 1 ? ' is' : 's are'} live.`}
        </p>
      </Confirm>
    </Section>
  );
}
