import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { useMutation } from '../api.ts';
import { faultAt } from '../failure.ts';
import { ApiGrants, type ApiRowFragment, Apis, AuditEvents, CreateApi, UpdateApi } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject } from '../projects/project.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { Duration } from '../ui/forms/duration.tsx';
import { useFirstFocus } from '../ui/forms/first-focus.ts';
import { type Scope, ScopeField } from './scope-field.tsx';

interface ApiFormProps {
  /** Absent: a new API. */
  api?: ApiRowFragment;
  onClose(): void;
}

/** Creates an API, or changes all but its identifier. */
export function ApiForm({ api, onClose }: ApiFormProps) {
  const { id: projectId } = useProject();
  const [name, setName] = useState(api?.name ?? '');
  const [identifier, setIdentifier] = useState(api?.identifier ?? '');
  const [scopes, setScopes] = useState<readonly Scope[]>(api?.scopes ?? []);
  const [accessTokenTtlSeconds, setTtl] = useState(api?.accessTokenTtlSeconds ?? 900);
  const stale = [Apis, ApiGrants, AuditEvents];
  const [create, creating, createFailure] = useMutation(CreateApi, stale);
  const [update, updating, updateFailure] = useMutation(UpdateApi, stale);
  const firstFocus = useFirstFocus<HTMLInputElement>();
  const failure = createFailure ?? updateFailure;
  const kept = scopes.map(({ key, description }) => ({ key: key.trim(), description: description.trim() }));
  const values = { name, scopes: kept.filter(({ key }) => key !== ''), accessTokenTtlSeconds };
  const made = { input: { projectId, identifier: identifier.trim(), ...values } };
  const changed = api && { input: { id: api.id, expectedVersion: api.version, ...values } };
  const submit = async () => {
    const outcome = changed ? await update(changed) : await create(made);
    if (!outcome.data) return;
    toast(api ? t('Saved') : t('API created'));
    onClose();
  };
  const scopeFault = failure?.path?.startsWith('scopes') ? failure : undefined;
  return (
    <DialogForm
      verb={api ? t('Save') : t('Create API')}
      busy={creating || updating}
      {...{ failure, onClose }}
      fields={['name', 'identifier', 'accessTokenTtlSeconds', ...(scopeFault?.field ? [scopeFault.field] : [])]}
      disabled={name.trim() === '' || identifier.trim() === '' || values.scopes.length === 0}
      graphql={changed ? request(UpdateApi, changed) : request(CreateApi, made)}
      onSubmit={() => void submit()}
    >
      <TextInput
        label={t('Name')}
        maxLength={100}
        value={name}
        error={faultAt(failure, 'name')}
        onChange={(event) => setName(event.currentTarget.value)}
        {...firstFocus}
      />
      <TextInput
        label={t('Identifier')}
        description={
          api
            ? t('The audience of its tokens: it cannot be changed.')
            : t('The audience of its tokens, usually the address of the service. It cannot be changed later.')
        }
        placeholder="https://api.example.com"
        maxLength={500}
        spellCheck={false}
        autoCapitalize="none"
        disabled={api !== undefined}
        value={identifier}
        error={faultAt(failure, 'identifier')}
        onChange={(event) => setIdentifier(event.currentTarget.value)}
      />
      <ScopeField value={scopes} onChange={setScopes} error={scopeFault?.message} />
      <Duration
        label={t('Token lifetime')}
        hint={t('1 minute to 1 hour')}
        value={accessTokenTtlSeconds}
        error={faultAt(failure, 'accessTokenTtlSeconds')}
        onChange={setTtl}
      />
    </DialogForm>
  );
}
