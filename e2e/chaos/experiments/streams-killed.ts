import { relayKilled } from '../support/relay-killed.ts';

interface Event {
  data: { id: string; subject: { id: string }; detail: { after: Record<string, string> } };
}

/** Ten streams of a project, and ten of the instance, which has the events of all projects. */
export const streamsKilled = relayKilled({
  name: 'streams-killed',
  noun: 'log streams',
  subscribe: (admin, projectId, target, index) =>
    admin.run('mutation ($input: CreateLogStreamInput!) { createLogStream(input: $input) { id } }', {
      input: { ...(index % 2 === 0 && { projectId }), kind: 'HTTP', target, types: ['user.updated'] },
    }),
  read: (_req, body) =>
    body
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as Event).data)
      .map(({ id, subject, detail }) => ({ id, subject: subject.id, name: String(detail.after['displayName']) })),
});
