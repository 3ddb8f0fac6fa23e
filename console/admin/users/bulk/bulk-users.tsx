import { Alert, Button, Group, Modal, Progress, Stack, Text } from '@mantine/core';
import { useRef, useState } from 'react';
import { type Outcome, queryClient, send, useMutation, useQuery } from '../../api.ts';
import { type Failure, RequestError } from '../../failure.ts';
import {
  AuditEvents,
  ChangeUsers,
  CountUsers,
  MatchingUsers,
  type UserAction,
  type UserFilter,
  Users,
} from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { rich } from '../../language/rich.tsx';
import { SecondaryButton } from '../../ui/buttons.tsx';
import { count } from '../../ui/counted.ts';
import { Confirm } from '../../ui/feedback/confirm.tsx';
import { FormError } from '../../ui/feedback/errors.tsx';
import { saveFile } from '../../ui/files/save-file.ts';
import { useUnloadWarning } from '../../ui/forms/unload-warning.ts';
import { DataTable } from '../../ui/lists/data-table.tsx';
import { Facts } from '../../ui/lists/facts.tsx';
import { toCsv } from '../add/csv.ts';
import { userActions } from '../user-actions.tsx';
import { type BulkPage, type BulkProgress, type Chosen, notBegun, pagesOf, runBulk } from './bulk-run.ts';

/** All users that match, in any number. */
export interface AllMatching {
  search: string | null;
  filter: UserFilter;
  /** The search and filters in words: "Status: Active". */
  conditions: readonly string[];
}

interface BulkUsersProps {
  projectId: string;
  action: UserAction;
  /** Chosen users, or all that match. */
  of: readonly Chosen[] | AllMatching;
  onClose(): void;
  onDone(): void;
}

const isList = (of: BulkUsersProps['of']): of is readonly Chosen[] => Array.isArray(of);

/** A bulk action on more users than fit into a request: preview, progress, and refusals. */
export function BulkUsers(props: BulkUsersProps) {
  const run = useBulk(props);
  return run.progress ? <Run {...props} run={run} progress={run.progress} /> : <Preview {...props} run={run} />;
}

function useBulk({ projectId, action, of }: BulkUsersProps) {
  const [progress, setProgress] = useState<BulkProgress>();
  const [isRunning, setRunning] = useState(false);
  const [changedTo, setChangedTo] = useState<number>();
  const [failure, setFailure] = useState<Failure>();
  const controller = useRef<AbortController>(undefined);
  const { search, filter } = isList(of) ? { search: null, filter: {} } : of;
  const counted = useQuery(CountUsers, { projectId, search, filter }, { pause: isList(of) || progress !== undefined });
  const [change] = useMutation(ChangeUsers, []);
  useUnloadWarning(isRunning);
  const start = async (from: BulkProgress) => {
    controller.current = new AbortController();
    setFailure(undefined);
    setRunning(true);
    const end = await runBulk(from, {
      load: isList(of) ? pagesOf(of) : (after) => loadMatching(projectId, of, after),
      apply: (userIds) => change({ input: { projectId, userIds, action } }),
      isErasing: action === 'ERASE',
      onProgress: setProgress,
      signal: controller.current.signal,
    });
    setRunning(false);
    if (end.changedTo !== undefined) {
      setChangedTo(end.changedTo);
      setFailure({
        code: 'changed',
        message: t('Nothing was changed: {changedTo, number} users match now, not {total, number}. Confirm again.', {
          changedTo: end.changedTo,
          total: from.total,
        }),
      });
      return;
    }
    setProgress(end.progress);
    setFailure(end.failure);
    for (const operation of [Users, CountUsers, AuditEvents])
      void queryClient.invalidateQueries({ queryKey: [operation] });
  };
  const total = progress?.total ?? changedTo ?? (isList(of) ? of.length : counted.data?.users.totalCount);
  const who = total === undefined ? '…' : t('{count, plural, one {# user} other {# users}}', { count: total });
  const { verb } = userActions[action];
  const stop = () => controller.current?.abort();
  return { progress, isRunning, failure, counted, total, title: `${verb}: ${who}`, start, stop };
}

interface PartProps extends BulkUsersProps {
  run: ReturnType<typeof useBulk>;
}

function Preview({ action, of, onClose, run }: PartProps) {
  const { counted, total, isRunning } = run;
  const { verb, effect, isFinal } = userActions[action];
  return (
    <Confirm
      opened
      title={`${run.title}?`}
      verb={verb}
      name={isFinal && total !== undefined ? String(total) : undefined}
      isHarmless={action === 'ACTIVATE'}
      busy={isRunning || (total === undefined && counted.stale)}
      failure={run.failure ?? counted.failure}
      onClose={onClose}
      onConfirm={() => (total === undefined ? counted.reload() : void run.start(notBegun(total)))}
    >
      <p>{t('Each user {effect}', { effect })}</p>
      {!isList(of) && (
        <>
          <p>
            {of.conditions.length === 0 ? (
              <strong>{t('All users of the project.')}</strong>
            ) : (
              rich('All users that match <strong>{conditions}</strong>.', { conditions: of.conditions.join(', ') })
            )}
          </p>
          <p>{t('Skips users created from now on, and users who no longer match by then.')}</p>
        </>
      )}
    </Confirm>
  );
}

function Run({ onClose, onDone, run, progress }: PartProps & { progress: BulkProgress }) {
  const { isRunning, failure, title, start, stop } = run;
  const { isFinished, total } = progress;
  const close = () => {
    onClose();
    onDone();
  };
  return (
    <Modal opened onClose={isRunning ? () => undefined : close} title={title} size="lg" withCloseButton={!isRunning}>
      <Stack>
        <Progress
          value={isFinished ? 100 : (100 * handled(progress)) / Math.max(1, total)}
          aria-label={t('Progress')}
        />
        <Text role="status">{statusOf(progress, isRunning)}</Text>
        {!isRunning && <Results progress={progress} />}
        <FormError failure={failure} />
        <Group justify="flex-end" gap="xs">
          {isRunning && <SecondaryButton onClick={stop}>{t('Stop')}</SecondaryButton>}
          {!isRunning && !isFinished && (
            <SecondaryButton onClick={() => void start(progress)}>{t('Continue')}</SecondaryButton>
          )}
          {!isRunning && <Button onClick={close}>{t('Close')}</Button>}
        </Group>
      </Stack>
    </Modal>
  );
}

const handled = ({ done, refused, gone }: BulkProgress) => done + refused.length + gone;

function statusOf(progress: BulkProgress, isRunning: boolean): string {
  const { total, isWaiting, isFinished } = progress;
  const place = t('{done, number} of {total, number}', { done: handled(progress), total });
  if (isWaiting && isRunning) return t('{place}. The server does not respond; trying again.', { place });
  if (isRunning) return place;
  return isFinished ? t('Finished') : t('Stopped after {place}', { place });
}

/** Refused users in the table; the report has all. */
const shown = 20;

function Results({ progress }: { progress: BulkProgress }) {
  const { total, done, refused, gone, isFinished } = progress;
  const left = isFinished ? total - handled(progress) : 0;
  return (
    <>
      <Facts
        facts={[
          [t('Done'), count.format(done)],
          [t('Refused'), count.format(refused.length)],
          gone > 0 && [t('Erased in the meantime'), count.format(gone)],
          left > 0 && [t('No longer match'), count.format(left)],
        ]}
      />
      {refused.length > 0 && (
        <>
          <DataTable
            dense
            label={t('Refused users')}
            rows={refused.slice(0, shown)}
            columns={[
              { header: t('User'), isName: true, width: '40%', cell: ({ name }) => name },
              { header: t('Reason'), cell: ({ message }) => message },
            ]}
          />
          <Alert>
            <Group justify="space-between">
              {refused.length > shown
                ? t('And {count, number} more in the report.', { count: refused.length - shown })
                : t('These users were not changed.')}
              <SecondaryButton
                size="xs"
                onClick={() =>
                  saveFile(
                    'refused-users.csv',
                    toCsv([['id', 'name', 'reason'], ...refused.map(({ id, name, message }) => [id, name, message])]),
                    'text/csv',
                  )
                }
              >
                {t('Download report')}
              </SecondaryButton>
            </Group>
          </Alert>
        </>
      )}
    </>
  );
}

async function loadMatching(
  projectId: string,
  { search, filter }: AllMatching,
  after: string | null,
): Promise<Outcome<BulkPage>> {
  try {
    const { users } = await send(MatchingUsers, { projectId, search, filter, after, exact: after === null });
    return {
      data: {
        users: users.edges.map(({ node: { id, userName, displayName } }) => ({ id, name: displayName ?? userName })),
        // A search that finds more than it lists cannot be confirmed by number.
        total: users.isLimited ? users.totalCount + 1 : users.totalCount,
        next: users.pageInfo.hasNextPage ? (users.pageInfo.endCursor ?? null) : null,
      },
    };
  } catch (error) {
    if (error instanceof RequestError) return { failure: error };
    throw error;
  }
}
