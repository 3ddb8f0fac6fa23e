import { Checkbox, Stack, Switch } from '@mantine/core';
import { ApiGrants, type ApiRowFragment, AuditEvents, SetApiGrant } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { request } from '../ui/code/show-graphql.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { useDialogForm } from '../ui/forms/use-dialog-form.ts';

interface ApiGrantFormProps {
  clientId: string;
  api: ApiRowFragment;
  /** Absent: no access. */
  grant: { scopes: readonly string[]; introspects: boolean } | undefined;
  onClose(): void;
}

/** Edits the scopes of an application at an API. */
export function ApiGrantForm({ clientId, api, grant, onClose }: ApiGrantFormProps) {
  const form = useDialogForm({
    initial: { scopes: [...(grant?.scopes ?? [])], introspects: grant?.introspects ?? false },
    request: (values) => request(SetApiGrant, { input: { clientId, apiId: api.id, ...values } }),
    invalidates: [ApiGrants, AuditEvents],
    done: t('Saved'),
    onClose,
  });
  return (
    <DialogForm {...form.props} verb={t('Save')}>
      <Checkbox.Group label={t('Scopes')} description={t('None: no tokens for this API.')} {...form.field('scopes')}>
        <Stack gap="xs" mt="xs">
          {api.scopes.map(({ key, description }) => (
            <Checkbox key={key} value={key} label={<code>{key}</code>} description={description} />
          ))}
        </Stack>
      </Checkbox.Group>
      <Switch
        label={t('This application is the API')}
        description={t('It may introspect all tokens for the API.')}
        {...form.toggle('introspects')}
      />
    </DialogForm>
  );
}
