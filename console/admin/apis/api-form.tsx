import { Switch, Text, TextInput } from '@mantine/core';
import { ApiGrants, type ApiRowFragment, Apis, AuditEvents, CreateApi, UpdateApi } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject } from '../projects/project.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { Duration } from '../ui/forms/duration.tsx';
import { useFirstFocus } from '../ui/forms/first-focus.ts';
import { useDialogForm } from '../ui/forms/use-dialog-form.ts';
import { verbatim } from '../ui/forms/verbatim.ts';
import { type Scope, ScopeField } from './scope-field.tsx';

interface ApiFormProps {
  /** Absent: a new API. */
  api?: ApiRowFragment;
  onClose(): void;
}

/** Creates an API, or changes all but its identifier. */
export function ApiForm({ api, onClose }: ApiFormProps) {
  const { id: projectId } = useProject();
  const firstFocus = useFirstFocus<HTMLInputElement>();
  const form = useDialogForm({
    initial: {
      name: api?.name ?? '',
      identifier: api?.identifier ?? '',
      scopes: api?.scopes ?? ([] as readonly Scope[]),
      accessTokenTtlSeconds: api?.accessTokenTtlSeconds ?? 900,
      thirdPartyAccess: api?.thirdPartyAccess ?? false,
      tokenExchange: api?.tokenExchange ?? false,
      userKeys: api?.userKeys ?? false,
    },
    request({ identifier, ...rest }) {
      const values = { ...rest, scopes: trimmed(rest.scopes) };
      return api
        ? request(UpdateApi, { input: { id: api.id, expectedVersion: api.version, ...values } })
        : request(CreateApi, { input: { projectId, identifier: identifier.trim(), ...values } });
    },
    invalidates: [Apis, ApiGrants, AuditEvents],
    done: api ? t('Saved') : t('API created'),
    onClose,
  });
  const { name, identifier, scopes } = form.values;
  const scopeFault = form.failure?.path?.startsWith('scopes') ? form.failure.field : undefined;
  return (
    <DialogForm
      {...form.props}
      verb={api ? t('Save') : t('Create API')}
      disabled={name.trim() === '' || identifier.trim() === '' || trimmed(scopes).length === 0}
    >
      <TextInput label={t('Name')} maxLength={100} {...form.field('name')} {...firstFocus} />
      <TextInput
        label={t('Identifier')}
        description={
          api
            ? t('The audience of its tokens: it cannot be changed.')
            : t('The audience of its tokens, usually the address of the service. It cannot be changed later.')
        }
        placeholder="https://api.example.com"
        maxLength={500}
        {...verbatim}
        disabled={api !== undefined}
        {...form.field('identifier')}
      />
      <Text size="sm" c="dimmed">
        {t('Services must check iss, too: other projects may use the same identifier.')}
      </Text>
      <ScopeField {...form.field('scopes')} error={scopeFault && form.faultAt(scopeFault)} />
      <Duration label={t('Token lifetime')} hint={t('1 minute to 1 hour')} {...form.field('accessTokenTtlSeconds')} />
      <Switch
        label={t('Third-party applications')}
        description={t('Each gets tokens for the scopes that a user allows.')}
        {...form.toggle('thirdPartyAccess')}
      />
      <Switch
        label={t('Token exchange')}
        description={t('Applications with this grant get its tokens for tokens of other APIs.')}
        {...form.toggle('tokenExchange')}
      />
      <Switch
        label={t('API keys of users')}
        description={t('Users make keys for it on their account page. The API introspects them.')}
        {...form.toggle('userKeys')}
      />
    </DialogForm>
  );
}

/** Trims keys and descriptions, and drops lines without a key. */
function trimmed(scopes: readonly Scope[]): Scope[] {
  const lines = scopes.map(({ key, description }) => ({ key: key.trim(), description: description.trim() }));
  return lines.filter(({ key }) => key !== '');
}
