import { Alert, Button, Checkbox, Group, Progress, Text } from '@mantine/core';
import { useRef, useState } from 'react';
import { useAccess } from '../../access.tsx';
import { useMutation, useQuery } from '../../api.ts';
import type { Failure } from '../../failure.ts';
import { CustomAttributes, ImportUsers } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { useProject, useProjectPath } from '../../projects/project.tsx';
import { LinkButton, SecondaryButton } from '../../ui/buttons.tsx';
import { FormError } from '../../ui/feedback/errors.tsx';
import { useUnloadWarning } from '../../ui/forms/unload-warning.ts';
import { Page, Section } from '../../ui/layout/page.tsx';
import { ColumnTable } from './column-table.tsx';
import type { Source } from './csv.ts';
import { FileSection } from './file-section.tsx';
import { guessedColumns, type ImportRow, prepare, targetsOf } from './import-columns.ts';
import { Outcome } from './import-outcome.tsx';
import { type Progress as Done, runImport } from './import-run.ts';
import { useUninvitable } from './invitable.tsx';

interface Run {
  kind: 'check' | 'import';
  progress: Done;
  /** Not imported yet. */
  remaining: readonly ImportRow[];
  isRunning: boolean;
  failure: Failure | undefined;
}

/** Imports users from a CSV file: choose it, map its columns, check, import. */
export function Component() {
  const project = useProject();
  const path = useProjectPath();
  const { mayChange } = useAccess(project.id);
  return (
    <Page
      title={t('Import users')}
      lead={t('From a CSV file with one user per line.')}
      back={{ to: path('users'), label: t('Users') }}
    >
      {mayChange ? (
        <Import projectId={project.id} />
      ) : (
        <Alert>{t('Only project admins import users. You are a viewer of {name}.', { name: project.name })}</Alert>
      )}
    </Page>
  );
}

function Import({ projectId }: { projectId: string }) {
  const path = useProjectPath();
  const draft = useImport(projectId);
  const { source, run, isRunning, invite } = draft;
  return (
    <>
      <FileSection source={source} disabled={isRunning} onRead={draft.read} />
      {source && draft.isReady && (
        <>
          <Section title={t('Columns')} lead={t('Choose the attribute of each column. The first line is the header.')}>
            <ColumnTable
              source={source}
              columns={draft.columns}
              targets={draft.targets}
              disabled={isRunning}
              onChange={draft.choose}
            />
          </Section>
          <StartSection draft={draft} />
        </>
      )}
      {run && source && !isRunning && (
        <Outcome kind={run.kind} progress={run.progress} source={source}>
          {run.kind === 'import' && (
            <LinkButton to={path(invite ? 'users?seen=invited' : 'users')}>{t('Show users')}</LinkButton>
          )}
        </Outcome>
      )}
    </>
  );
}

/** The file, the attribute of each column, and the run. A change of the input clears the result. */
function useImport(projectId: string) {
  const { data } = useQuery(CustomAttributes, { projectId });
  const [source, setSource] = useState<Source>();
  const [chosen, setChosen] = useState<readonly string[]>();
  const [invite, setInvite] = useState(false);
  const { run, start, stop, clear } = useRun({ projectId, invite });
  const targets = targetsOf(data?.customAttributes ?? []);
  const columns = chosen ?? guessedColumns(source?.header ?? [], targets);
  const prepared = source && prepare(source.body, columns, targets);
  const isRunning = run?.isRunning === true;
  useUnloadWarning(isRunning);
  const choose = (next: readonly string[] | undefined) => {
    setChosen(next);
    clear();
  };
  return {
    ...{ source, columns, targets, invite, run, isRunning, stop, choose },
    isReady: data !== undefined,
    /** Users to import. */
    count: prepared?.rows.length ?? 0,
    hasLogin: columns.includes('email') || columns.includes('userName'),
    read(next: Source | undefined) {
      setSource(next);
      choose(undefined);
    },
    setInvite(next: boolean) {
      setInvite(next);
      clear();
    },
    begin: (kind: Run['kind']) => prepared && void start(kind, prepared.rows, prepared.refused, targets),
    resume: () => run && void start(run.kind, run.remaining, [], targets, run.progress),
  };
}

function StartSection({ draft }: { draft: ReturnType<typeof useImport> }) {
  const { invite, run, isRunning, count, hasLogin } = draft;
  const isDisabled = !hasLogin || count === 0 || isRunning;
  const uninvitable = useUninvitable();
  return (
    <Section title={t('Import')} lead={t('Existing users are not changed. A refused line does not affect the others.')}>
      <Checkbox
        label={t('Send invitations')}
        description={uninvitable ?? t('Each new user gets a mail with a link to sign in, in their language.')}
        checked={invite}
        disabled={isRunning || uninvitable !== undefined}
        onChange={(event) => draft.setInvite(event.currentTarget.checked)}
      />
      {!hasLogin && (
        <Alert color="warn" mt="md">
          {t('One column must be the email address or the user name.')}
        </Alert>
      )}
      <Group mt="md" gap="xs">
        <SecondaryButton disabled={isDisabled} onClick={() => draft.begin('check')}>
          {t('Check')}
        </SecondaryButton>
        <Button disabled={isDisabled} onClick={() => draft.begin('import')}>
          {t('Import {count, plural, one {# user} other {# users}}', { count })}
        </Button>
        {isRunning && <SecondaryButton onClick={draft.stop}>{t('Stop')}</SecondaryButton>}
      </Group>
      {run && <RunProgress run={run} onContinue={draft.resume} />}
    </Section>
  );
}

/** The progress bar, and the error that stopped the import. */
function RunProgress({ run, onContinue }: { run: Run; onContinue(): void }) {
  const { done, total, isWaiting } = run.progress;
  const percent = total === 0 ? 100 : Math.floor((done / total) * 100);
  const isCheck = run.kind === 'check';
  const place = isCheck
    ? t('{done, number} of {total, plural, one {# line} other {# lines}} checked', { done, total })
    : t('{done, number} of {total, plural, one {# line} other {# lines}} processed', { done, total });
  return (
    <>
      <Progress.Root mt="lg" size="lg">
        <Progress.Section value={percent} aria-label={isCheck ? t('Lines checked') : t('Lines processed')} />
      </Progress.Root>
      <Text mt="xs" role="status">
        {isWaiting ? t('{place}. The server does not respond: trying again…', { place }) : place}
      </Text>
      <FormError failure={run.failure} />
      {!run.isRunning && run.remaining.length > 0 && (
        <Group mt="sm">
          <Button onClick={onContinue}>
            {t('Continue with {count, plural, one {# line} other {# lines}}', { count: run.remaining.length })}
          </Button>
        </Group>
      )}
    </>
  );
}

/** Runs a check or an import, one at a time. */
function useRun({ projectId, invite }: { projectId: string; invite: boolean }) {
  const [run, setRun] = useState<Run>();
  const stopping = useRef<AbortController>(undefined);
  const [send] = useMutation(ImportUsers, []);
  const start = async (
    kind: Run['kind'],
    rows: readonly ImportRow[],
    refused: Done['refused'],
    targets: Parameters<typeof runImport>[2]['targets'],
    before: Done = {
      done: refused.length,
      total: rows.length + refused.length,
      created: 0,
      known: [],
      refused,
      isWaiting: false,
    },
  ) => {
    const abort = new AbortController();
    stopping.current = abort;
    let progress = before;
    setRun({ kind, progress, remaining: rows, isRunning: true, failure: undefined });
    const onProgress = (next: Done) => {
      progress = next;
      setRun({ kind, progress, remaining: rows, isRunning: true, failure: undefined });
    };
    const options = { projectId, invite, dryRun: kind === 'check', targets, send, onProgress, signal: abort.signal };
    const { failure, remaining } = await runImport(rows, before, options);
    setRun({ kind, progress: { ...progress, isWaiting: false }, remaining, isRunning: false, failure });
  };
  return { run, start, stop: () => stopping.current?.abort(), clear: () => setRun(undefined) };
}
