import { flag, type SettingsOf, text, texts } from '../kernel/resource.ts';
import { checkedDescription, checkedSecret, checkedUrl } from './webhook-settings.ts';

/** Settings of webhooks, in the order of their documents. */
export const webhookFields = {
  /** May contain a token of the receiver: `webhookUrl` shows it to admins. */
  url: text({
    ...{ check: (url, _, { allowPrivateTargets }) => checkedUrl(url, allowPrivateTargets) },
    ...{ sensitive: true, view: false, input: 'https. Its host must have a public address.' },
  }),
  description: text({
    ...{ default: '', check: (line) => checkedDescription(line), sensitive: true },
    input: 'One line of at most 100 characters.',
  }),
  /** Event types, or `noun.*`; empty: all. The service checks them: the list of types has this declaration, too. */
  types: texts({
    ...{ default: [], columnDefault: null, check: (types) => types, sensitive: true },
    says: 'Event types or `noun.*`; none: all.',
    input: 'Event types, e.g. `user.created`, or all types of a resource, e.g. `user.*`; empty: all types.',
  }),
  /** Stored as `disabledReason`. A webhook that was disabled after failures counts as enabled in documents. */
  enabled: flag({
    ...{ default: true, stored: false, view: false, inputs: 'change', sensitive: true },
    input: 'False: events are not queued, and waiting ones are held back.',
  }),
  /** The signing secret: generated, or from a document. Stored sealed. */
  secret: text({
    ...{ default: null, check: (secret) => checkedSecret(secret), stored: false, view: false, inputs: false },
    sensitive: true,
  }),
};

/** Settings that an admin can change. */
export type WebhookSettings = Omit<SettingsOf<typeof webhookFields>, 'secret'>;
