import { Checkbox, Stack, Switch } from '@mantine/core';
import { useState } from 'react';
import { useMutation } from '../api.ts';
import { ApiGrants, type ApiRowFragment, AuditEvents, SetApiGrant } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { request } from '../ui/code/show-graphql.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';

interface ApiGrantFormProps {
  clientId: string;
  api: ApiRowFragment;
  /** Absent: no access. */
  grant: { scopes: readonly string[]; introspects: boolean } | undefined;
  onClose(): void;
}

/** Edits the scopes of an application at an API. */
export function ApiGrantForm({ clientId, api, grant, onClose }: ApiGrantFormProps) {
  const [scopes, setScopes] = useState<string[]>([...(grant?.scopes ?? [])]);
  const [introspects, setIntrospects] = useState(grant?.introspects ?? false);
  const [save, busy, failure] = useMutation(SetApiGrant, [ApiGrants, AuditEvents]);
  const input = { clientId, apiId: api.id, scopes, introspects };
  const submit = async () => {
    // Null if nothing is left.
    if ((await save({ input })).data === undefined) return;
    toast(t('Saved'));
    onClose();
  };
  return (
    <DialogForm
      verb={t('Save')}
      {...{ busy, failure, onClose }}
      graphql={request(SetApiGrant, { input })}
      onSubmit={() => void submit()}
    >
      <Checkbox.Group
        label={t('Scopes')}
        description={t('None: no tokens for this API.')}
        value={scopes}
        onChange={setScopes}
      >
        <Stack gap="xs" mt="xs">
          {api.scopes.map(({ key, description }) => (
            <Checkbox key={key} value={key} label={<code>{key}</code>} description={description} />
          ))}
        </Stack>
      </Checkbox.Group>
      <Switch
        label={t('This application is the API')}
        description={t('It may introspect all tokens for the API.')}
        checked={introspects}
        onChange={(event) => setIntrospects(event.currentTarget.checked)}
      />
    </DialogForm>
  );
}
