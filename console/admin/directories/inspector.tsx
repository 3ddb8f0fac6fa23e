import { Alert, Badge, Group, SimpleGrid, Text } from '@mantine/core';
import { lazy } from 'react';
import { useQuery } from '../api.ts';
import { attributesTexts } from '../attributes/texts.ts';
import { ScimRequests, type ScimRequestsQuery } from '../generated/operations.ts';
import { t, withTexts } from '../language/language.ts';
import { SecondaryButton } from '../ui/buttons.tsx';
import { Code } from '../ui/code/code.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { useDialog } from '../ui/feedback/use-dialog.tsx';
import { Section } from '../ui/layout/page.tsx';
import { Disclosures } from '../ui/lists/disclosures.tsx';
import { Pager, useListParams } from '../ui/lists/list-bar.tsx';
import { Time } from '../ui/time.tsx';
import { adviceFor } from './advice.ts';
import { definitionFor } from './attribute-names.ts';
import styles from './inspector.module.css';
import type { DirectoryOwner } from './owner.ts';

const AttributeForm = lazy(async () => ({
  default: (await withTexts(attributesTexts, () => import('../attributes/attribute-form.tsx'))).AttributeForm,
}));

type Request = ScimRequestsQuery['scimRequests']['edges'][number]['node'];

interface InspectorProps {
  owner: DirectoryOwner;
  /** Has the custom attributes. */
  projectId: string;
  /** Whether the account may define attributes of the project. */
  mayChange: boolean;
}

/** Recent SCIM requests with responses and advice. */
export function Inspector({ owner, projectId, mayChange }: InspectorProps) {
  const { get } = useListParams();
  const after = get('after');
  const { data, failure, reload } = useQuery(
    ScimRequests,
    { ...owner, after: after ?? null },
    { keep: true, ...(after ? {} : { everySeconds: 5 }) },
  );
  const page = data?.scimRequests;
  return (
    <Section
      flush
      title={t('Requests')}
      lead={t('Last 200 requests of 7 days, newest first, without secrets. Updates automatically.')}
    >
      {failure && !page ? (
        <LoadError failure={failure} subject={t('the list of requests')} retry={reload} />
      ) : page?.edges.length === 0 ? (
        <Empty icon="directory" title={t('No requests yet')}>
          {t('The first request appears here within seconds.')}
        </Empty>
      ) : (
        <Disclosures
          rows={page?.edges.map(({ node }) => node)}
          columns="4.5rem minmax(0, 1fr) 9rem"
          narrowColumns="4.5rem minmax(0, 1fr)"
          summary={Summary}
          details={(request) => <Details request={request} projectId={projectId} mayChange={mayChange} />}
        />
      )}
      <Pager pageInfo={page?.pageInfo} />
    </Section>
  );
}

function Summary({ status, method, path, at }: Request) {
  return (
    <>
      <span>
        <Badge color={status < 300 ? 'good' : status < 500 ? 'note' : 'bad'}>{status}</Badge>
      </span>
      <Text component="code" truncate>
        <strong>{method}</strong> {path}
      </Text>
      <span className={styles.time}>
        <Time at={at} />
      </span>
    </>
  );
}

function Details({ request, ...project }: { request: Request; projectId: string; mayChange: boolean }) {
  const { detail, ignored, requestBody, responseBody, tokenName, durationMs, userAgent } = request;
  return (
    <>
      {detail && <Alert title={detail}>{adviceFor(request) ?? t('See the response below.')}</Alert>}
      {ignored && ignored.length > 0 && <Ignored {...project} names={ignored} body={requestBody} />}
      <Text c="dimmed">
        {t('Token {name} · {time} ms', { name: tokenName, time: durationMs })}
        {userAgent && ` · ${userAgent}`}
      </Text>
      <SimpleGrid cols={{ base: 1, sm: 2 }} className={styles.bodies ?? ''}>
        <Body label={t('Request')} text={requestBody} />
        <Body label={t('Response')} text={responseBody} />
      </SimpleGrid>
    </>
  );
}

interface IgnoredProps {
  projectId: string;
  names: readonly string[];
  /** The body of the request. */
  body: string | null | undefined;
  mayChange: boolean;
}

/** Ignored attributes, each with a button that defines it. */
function Ignored({ projectId, names, body, mayChange }: IgnoredProps) {
  const [dialog, { open }] = useDialog();
  const create = (initial: NonNullable<ReturnType<typeof definitionFor>>) =>
    open(t('Create attribute'), (onClose) => <AttributeForm {...{ projectId, initial, onClose }} />, 'lg');
  return (
    <Alert
      color="note"
      title={t('{count, plural, one {# attribute ignored} other {# attributes ignored}}', { count: names.length })}
    >
      {t('No schema has them, so their values were not stored: {names}.', { names: names.join(', ') })}
      {mayChange && (
        <Group gap="xs" mt="xs">
          {names.map((name) => {
            const definition = definitionFor(name, body);
            return (
              definition && (
                <SecondaryButton key={name} size="compact-sm" onClick={() => create(definition)}>
                  {t('Create attribute {name}', { name: definition.name })}
                </SecondaryButton>
              )
            );
          })}
        </Group>
      )}
      {dialog}
    </Alert>
  );
}

function Body({ label, text }: { label: string; text: string | null | undefined }) {
  return (
    <div>
      <Text component="h3" fz="xs" fw={550} mb={4}>
        {label}
      </Text>
      {text ? <Code code={pretty(text)} label={label} /> : <Text c="dimmed">{t('Nothing')}</Text>}
    </div>
  );
}

/** Indented JSON; truncated bodies stay unchanged. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
