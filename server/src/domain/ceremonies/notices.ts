import type { MessageContent } from '../delivery/wording.ts';
import type { User } from '../users/user.entity.ts';
import type { Flow } from './flow.ts';
import { contextFor } from './recipients.ts';

type Notice = Exclude<MessageContent, { code: string }>;
type WithoutContext<N> = N extends Notice ? Omit<N, 'app' | 'at'> : never;

/** Notifies a user by mail of an action on their account. */
export async function notify(flow: Flow, user: User, notice: WithoutContext<Notice>): Promise<void> {
  const { em, deps, caller } = flow;
  const content = { ...notice, app: caller.client.name, at: deps.clock.now().toISOString() } as Notice;
  const context = contextFor(user);
  await deps.delivery.enqueue(em, {
    projectId: caller.project.id,
    channel: 'mail',
    to: context.mailbox,
    locale: caller.locale,
    content,
    context,
  });
}
