import { Alert, Button, Group, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Link, useLocation, useNavigate } from 'react-router';
import { useQuery } from '../api.ts';
import { SignInHistoryOf, type SignInHistoryOfQuery } from '../generated/operations.ts';
import { serverText, t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { LinesSkeleton } from '../ui/feedback/skeleton.tsx';
import { Icon } from '../ui/icon.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import { Attempt } from './attempt.tsx';

type History = SignInHistoryOfQuery['signInHistory'];

/** The latest sign-in attempts of a user, or with a request ID or an error; without a search, the latest refusals. */
export function Component() {
  const project = useProject();
  const navigate = useNavigate();
  // Not in the URL: an address would be in the server's access log.
  const { state } = useLocation() as { state: { about?: string } | null };
  const asked = state?.about ?? '';
  const [text, setText] = useState(asked);
  const variables = { projectId: project.id, about: asked || null };
  const { data, failure, stale, reload } = useQuery(SignInHistoryOf, variables);
  const search = (event: FormEvent) => {
    event.preventDefault();
    const about = text.trim();
    if (about === asked) reload();
    else void navigate('.', { state: { about } });
  };
  const found = data?.signInHistory;
  return (
    <Page
      title={t('Troubleshooting')}
      lead={t('The last sign-ins to {name}, step by step, with the reason for each refusal.', { name: project.name })}
    >
      <Section>
        <form onSubmit={search}>
          <Group align="flex-end" gap="sm">
            <TextInput
              flex="1 1 18rem"
              label={t('Address, request ID or OAuth error')}
              description={t('Error pages show the request ID as support code.')}
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
              maxLength={2000}
              required
              withAsterisk={false}
              autoComplete="off"
              spellCheck={false}
            />
            <Button type="submit" leftSection={<Icon name="search" size={16} />} loading={asked !== '' && stale}>
              {t('Search')}
            </Button>
          </Group>
        </form>
      </Section>
      <div role="status" aria-live="polite">
        {found && <Summary history={found} />}
      </div>
      {failure && <LoadError failure={failure} subject={t('the sign-ins')} retry={reload} />}
      {!found && !failure && (
        <Section>
          <LinesSkeleton />
        </Section>
      )}
      {found?.attempts.map((attempt) => (
        <Attempt key={attempt.id} attempt={attempt} />
      ))}
    </Page>
  );
}

const nothing: Record<History['kind'], { title: string; text?: string }> = {
  ADDRESS: {
    title: t('No sign-ins found'),
    text: t('The events of this project have no attempt with this address. Check the address and the project.'),
  },
  REQUEST: {
    title: t('No events of this request'),
    text: t(
      'It belongs to another project, is older than the stored events, or failed before a sign-in began. Search the server’s log for it.',
    ),
  },
  ERROR: { title: t('No recent refusals'), text: t('No event of this project has this error.') },
  LATEST: { title: t('No recent refusals') },
};

/** The kind of search, and the number of attempts found. */
function Summary({ history: { kind, about, user, explanation, attempts } }: { history: History }) {
  const path = useProjectPath();
  const links = { user: (name: string) => <Link to={path(`users/${user?.id}`)}>{name}</Link> };
  return (
    <>
      {explanation && (
        <Alert color="accent" title={about} mb={attempts.length === 0 ? 'md' : 0}>
          {serverText(explanation.meaning)} {serverText(explanation.remedy)}
        </Alert>
      )}
      {attempts.length === 0 ? (
        <Section>
          <Empty icon="search" title={nothing[kind].title}>
            {nothing[kind].text}
          </Empty>
        </Section>
      ) : kind === 'LATEST' ? (
        <Text c="dimmed">{t('Latest refusals')}</Text>
      ) : (
        <Text c="dimmed">
          {user
            ? rich(
                '{count, plural, one {# attempt} other {# attempts}} of <user>{name}</user>{count, plural, one {} other {, newest first}}',
                { ...links, count: attempts.length, name: user.name },
              )
            : t('{count, plural, one {# attempt} other {# attempts}}{count, plural, one {} other {, newest first}}', {
                count: attempts.length,
              })}
          {!user && kind === 'ADDRESS' && ` · ${t('No user of this project has this address; these look like it.')}`}
        </Text>
      )}
      {attempts.length === 0 && user && (
        <Text c="dimmed" mt="md">
          {rich('The user <user>{name}</user> exists.', { ...links, name: user.name })}
        </Text>
      )}
    </>
  );
}
