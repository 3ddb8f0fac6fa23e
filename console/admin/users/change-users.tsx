import { Badge, Box, Button, Group, Modal, Text } from '@mantine/core';
import { useState } from 'react';
import { useMutation } from '../api.ts';
import type { Failure } from '../failure.ts';
import {
  AuditEvents,
  ChangeUsers,
  GroupsOfUser,
  UserAccess,
  type UserAction,
  UserById,
  Users,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { Breakable } from '../ui/breakable.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { Confirm } from '../ui/feedback/confirm.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import rows from '../ui/lists/rows.module.css';
import type { Chosen } from './bulk/bulk-run.ts';
import { Losses } from './losses.tsx';
import { userActions } from './user-actions.tsx';

interface ChangeUsersDialogProps {
  projectId: string;
  users: readonly Chosen[];
  /** Absent: the dialog is closed. */
  action: UserAction | undefined;
  onClose(): void;
  onDone?(action: UserAction): void;
}

interface Outcome extends Chosen {
  done: boolean;
  message?: string | null;
}

/** Confirms a bulk action, runs it and shows the result per user. */
export function ChangeUsersDialog({ projectId, users, action, onClose, onDone }: ChangeUsersDialogProps) {
  const [failure, setFailure] = useState<Failure>();
  const [outcomes, setOutcomes] = useState<Outcome[]>();
  const [change, busy] = useMutation(ChangeUsers, [Users, UserById, UserAccess, GroupsOfUser, AuditEvents]);
  const words = action && userActions[action];
  const [only] = users;
  const isOne = users.length === 1;
  const who = isOne ? (only?.name ?? '') : t('{count, plural, one {# user} other {# users}}', { count: users.length });
  const close = () => {
    setFailure(undefined);
    onClose();
  };
  const inputOf = (of: UserAction) => ({ projectId, userIds: users.map(({ id }) => id), action: of });
  const confirm = async () => {
    if (!action || !words) return;
    const outcome = await change({ input: inputOf(action) });
    setFailure(outcome.failure);
    if (!outcome.data) return;
    const list = outcome.data.changeUsers.map(({ userId, ...rest }) => ({
      id: userId,
      name: users.find(({ id }) => id === userId)?.name ?? userId,
      ...rest,
    }));
    const refused = list.filter(({ done }) => !done);
    const [first] = refused;
    if (isOne && first) {
      setFailure({ code: 'refused', message: first.message ?? t('Refused') });
      return;
    }
    if (refused.length === 0) {
      const { done } = words;
      toast(t('{count, plural, one {{who} is {done}} other {{who} are {done}}}', { count: users.length, who, done }));
    } else setOutcomes(list);
    close();
    onDone?.(action);
  };
  return (
    <>
      <Confirm
        opened={words !== undefined && users.length > 0}
        title={words ? `${words.verb}: ${who}?` : ''}
        verb={words?.verb ?? ''}
        name={words?.isFinal ? (isOne ? only?.name : String(users.length)) : undefined}
        isHarmless={action === 'ACTIVATE'}
        busy={busy}
        failure={failure}
        onClose={close}
        onConfirm={() => void confirm()}
        graphql={action && request(ChangeUsers, { input: inputOf(action) })}
      >
        <p>
          {isOne ? <strong>{only && <Breakable text={only.name} />}</strong> : t('Each user')} {words?.effect}
        </p>
        {action === 'ERASE' && isOne && only && <Losses userId={only.id} />}
        {!isOne && <Names users={users} />}
      </Confirm>
      <Results outcomes={outcomes} onClose={() => setOutcomes(undefined)} />
    </>
  );
}

/** The first users, and the number of the others. */
function Names({ users }: { users: readonly Chosen[] }) {
  return (
    <ul>
      {users.slice(0, 8).map(({ id, name }) => (
        <li key={id}>{name}</li>
      ))}
      {users.length > 8 && <li>{t('and {count, number} more', { count: users.length - 8 })}</li>}
    </ul>
  );
}

/** @param outcomes absent: the dialog is closed */
function Results({ outcomes, onClose }: { outcomes: readonly Outcome[] | undefined; onClose(): void }) {
  return (
    <Modal opened={outcomes !== undefined} onClose={onClose} title={t('Results')} size="lg">
      <Box component="ul" className={rows.rows ?? ''} mah="50vh" mx="-1rem" style={{ overflow: 'auto' }} tabIndex={0}>
        {outcomes?.map(({ id, name, done, message }) => (
          <li key={id}>
            <Group justify="space-between" wrap="nowrap">
              <span>{name}</span>
              {done ? <Badge color="good">{t('Done')}</Badge> : <Badge color="bad">{t('Refused')}</Badge>}
            </Group>
            {message && (
              <Text c="dimmed" fz="xs">
                {message}
              </Text>
            )}
          </li>
        ))}
      </Box>
      <Group justify="flex-end" mt="md">
        <Button onClick={onClose}>{t('Close')}</Button>
      </Group>
    </Modal>
  );
}
