import { relayKilled } from '../support/relay-killed.ts';

interface Body {
  data: { subject: { id: string }; detail: { after: Record<string, string> } };
}

export const webhooksKilled = relayKilled({
  name: 'webhooks-killed',
  noun: 'webhooks',
  subscribe: (admin, projectId, url) =>
    admin.run('mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { webhook { id } } }', {
      input: { projectId, url, types: ['user.updated'] },
    }),
  read: (req, body) => {
    const { subject, detail } = (JSON.parse(body) as Body).data;
    const id = String(req.headers['webhook-id']);
    return [{ id, subject: subject.id, name: String(detail.after['displayName']) }];
  },
});
