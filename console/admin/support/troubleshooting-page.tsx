import { Alert, Button, Group, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Link, useLocation, useNavigate } from 'react-router';
import { useQuery } from '../api.ts';
import { SignInHistoryOf, type SignInHistoryOfQuery } from '../generated/operations.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { LinesSkeleton } from '../ui/feedback/skeleton.tsx';
import { Icon } from '../ui/icon.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import { Attempt } from './attempt.tsx';

type History = SignInHistoryOfQuery['signInHistory'];

/** The last attempts to sign in of a user, a request or an error. */
export function Component() {
  const project = useProject();
  const navigate = useNavigate();
  // Not in the URL: an address would be in the server's access log.
  const { state } = useLocation() as { state: { about?: string } | null };
  const asked = state?.about ?? '';
  const [text, setText] = useState(asked);
  const variables = { projectId: project.id, about: asked };
  const { data, failure, stale, reload } = useQuery(SignInHistoryOf, variables, { pause: asked === '' });
  const search = (event: FormEvent) => {
    event.preventDefault();
    const about = text.trim();
    if (about === asked) reload();
    else void navigate('.', { state: { about } });
  };
  const found = asked === '' ? undefined : data?.signInHistory;
  return (
    <Page
      title="Troubleshooting"
      lead={`The last sign-ins to ${project.name}, step by step, with the reason of each refusal.`}
    >
      <Section>
        <form onSubmit={search}>
          <Group align="flex-end" gap="sm">
            <TextInput
              flex="1 1 18rem"
              label="Address, request ID or OAuth error"
              description="Error pages show the request ID as support code."
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
              maxLength={2000}
              required
              withAsterisk={false}
              autoComplete="off"
              spellCheck={false}
            />
            <Button type="submit" leftSection={<Icon name="search" size={16} />} loading={asked !== '' && stale}>
              Search
            </Button>
          </Group>
        </form>
      </Section>
      <div role="status" aria-live="polite">
        {found && <Summary history={found} />}
      </div>
      {failure && <LoadError failure={failure} subject="the sign-ins" retry={reload} />}
      {asked !== '' && !found && !failure && (
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

const nothing: Record<History['kind'], { title: string; text: string }> = {
  ADDRESS: {
    title: 'No sign-ins found',
    text: 'No attempt with this address is in the events of this project. Check the address and the project.',
  },
  REQUEST: {
    title: 'No events of this request',
    text: 'It is of another project, is older than the events kept, or failed before a sign-in began: then only the server’s log has it.',
  },
  ERROR: { title: 'No recent refusals', text: 'No event of this project has this error.' },
};

/** How the text was understood, and how much was found. */
function Summary({ history: { kind, about, user, explanation, attempts } }: { history: History }) {
  const path = useProjectPath();
  return (
    <>
      {explanation && (
        <Alert color="accent" title={about} mb={attempts.length === 0 ? 'md' : 0}>
          {explanation.meaning} {explanation.remedy}
        </Alert>
      )}
      {attempts.length === 0 ? (
        <Section>
          <Empty icon="search" title={nothing[kind].title}>
            {nothing[kind].text}
          </Empty>
        </Section>
      ) : (
        <Text c="dimmed">
          {attempts.length === 1 ? '1 attempt' : `${attempts.length} attempts`}
          {user ? (
            <>
              {' '}
              of <Link to={path(`users/${user.id}`)}>{user.name}</Link>
            </>
          ) : (
            kind === 'ADDRESS' && ' for addresses that look like this one: no user of this project has it'
          )}
          {attempts.length > 1 && ', newest first'}
        </Text>
      )}
      {attempts.length === 0 && user && (
        <Text c="dimmed" mt="md">
          The user <Link to={path(`users/${user.id}`)}>{user.name}</Link> exists.
        </Text>
      )}
    </>
  );
}
