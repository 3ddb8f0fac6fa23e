import { Button, Group, NativeSelect, Text, Textarea } from '@mantine/core';
import { buildClientSchema, type GraphQLSchema, getIntrospectionQuery, type IntrospectionQuery } from 'graphql';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useQuery } from '../api.ts';
import { FirstProjects, type Operation } from '../generated/operations.ts';
import { locale, t } from '../language/language.ts';
import { settings } from '../settings.ts';
import { SecondaryButton } from '../ui/buttons.tsx';
import { CopyButton } from '../ui/code/copy.tsx';
import { takeDraft } from '../ui/code/explorer-draft.ts';
import { LoadError } from '../ui/feedback/errors.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import { formatted, operationsOf, variablesOf } from './document.ts';
import styles from './explorer.module.css';
import { isRunKey, QueryEditor } from './query-editor.tsx';
import { type ApiResponse, forget, run } from './run.ts';
import { SchemaReference } from './schema-reference.tsx';

const introspection = getIntrospectionQuery() as unknown as Operation<IntrospectionQuery, Record<string, never>>;
const unit = new Intl.NumberFormat(locale, { style: 'unit', unit: 'millisecond' });

function beginning(): { query: string; variables: string } {
  const draft = takeDraft();
  if (!draft) return { query: formatted(FirstProjects), variables: '' };
  return { query: formatted(draft.query), variables: JSON.stringify(draft.variables, null, 2) };
}

type Answer = ApiResponse | 'network' | undefined;

/** The request in the editor, and the response to the last one sent. */
function useRequest() {
  const [begun] = useState(beginning);
  const [query, setQuery] = useState(begun.query);
  const [variables, setVariables] = useState(begun.variables);
  const [chosen, choose] = useState<string>();
  const [answer, setAnswer] = useState<Answer>();
  const [busy, setBusy] = useState(false);
  const operations = operationsOf(query);
  const operation = operations.find(({ name }) => name === chosen) ?? operations[0];
  const given = variablesOf(variables);
  const send = async () => {
    if (busy || given === undefined) return;
    setBusy(true);
    const request = { query, variables: given, ...(operation?.name && { operationName: operation.name }) };
    setAnswer(await run(request).catch(() => 'network' as const));
    if (operation?.isMutation) forget(introspection);
    setBusy(false);
  };
  return {
    ...{ begun, query, setQuery, variables, setVariables, isValid: given !== undefined },
    ...{ operations, operation, choose, answer, busy, send: () => void send() },
  };
}

/** Sends requests to the admin API with the session of the admin, whose rights apply. */
export function Component() {
  const request = useRequest();
  const { data, failure, reload } = useQuery(introspection, {});
  const schema = useMemo(() => data && buildClientSchema(data), [data]);
  if (failure && !data) return <LoadError failure={failure} subject={t('the schema of the API')} retry={reload} />;
  return (
    <Page
      title={t('API explorer')}
      lead={t('Requests to the admin API run with your session and your rights. Mutations take effect.')}
      actions={
        <Button component="a" href={`${settings.issuer}/openapi`} target="_blank" variant="default">
          {t('REST reference')}
        </Button>
      }
    >
      <div className={styles.columns}>
        <RequestSection request={request} schema={schema} />
        <ResponseSection answer={request.answer} busy={request.busy} />
      </div>
      <SchemaReference schema={schema} />
    </Page>
  );
}

interface RequestSectionProps {
  request: ReturnType<typeof useRequest>;
  schema: GraphQLSchema | undefined;
}

function RequestSection({ request, schema }: RequestSectionProps) {
  const { begun, query, setQuery, variables, setVariables, isValid, operations, operation, choose, busy, send } =
    request;
  const [content, setContent] = useState({ text: begun.query });
  return (
    <Section
      title={t('Request')}
      actions={
        <>
          <SecondaryButton size="xs" onClick={() => setContent({ text: formatted(query) })}>
            {t('Format query')}
          </SecondaryButton>
          <Button size="xs" loading={busy} disabled={!isValid} onClick={send}>
            {t('Run')}
          </Button>
        </>
      }
    >
      <QueryEditor label={t('Query')} content={content} schema={schema} onText={setQuery} onRun={send} />
      <Text fz="xs" c="dimmed" mt={4}>
        {t('Ctrl Enter or ⌘ Enter runs it. Ctrl Space completes.')}
      </Text>
      {operations.length > 1 && (
        <NativeSelect
          mt="sm"
          label={t('Operation')}
          value={operation?.name ?? ''}
          data={operations.map(({ name }) => name)}
          onChange={({ currentTarget }) => choose(currentTarget.value)}
        />
      )}
      <Textarea
        mt="sm"
        rows={6}
        label={t('Variables (JSON)')}
        classNames={{ input: styles.variables ?? '' }}
        spellCheck={false}
        value={variables}
        error={!isValid && t('Must be a JSON object')}
        onChange={({ currentTarget }) => setVariables(currentTarget.value)}
        onKeyDown={(event) => isRunKey(event) && send()}
      />
    </Section>
  );
}

function ResponseSection({ answer, busy }: { answer: Answer; busy: boolean }) {
  const response = answer === 'network' ? undefined : answer;
  const shown = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (answer) shown.current?.scrollIntoView({ block: 'nearest' });
  }, [answer]);
  return (
    <Section
      title={t('Response')}
      actions={
        <Group gap="xs">
          <Text fz="xs" c="dimmed" role="status">
            {answer === 'network' && t('The server did not respond.')}
            {response && `${response.status} · ${unit.format(response.milliseconds)}`}
          </Text>
          {response && <CopyButton value={response.text} label={t('Response')} />}
        </Group>
      }
    >
      <pre
        className={styles.response}
        tabIndex={0}
        role="group"
        aria-label={t('Response')}
        aria-busy={busy}
        ref={shown}
      >
        {response?.text ?? ''}
      </pre>
    </Section>
  );
}
