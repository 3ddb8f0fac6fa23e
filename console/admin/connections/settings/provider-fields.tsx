import { TextInput } from '@mantine/core';
import { t } from '../../language/language.ts';
import type { SettingsForm } from '../../ui/forms/settings-form.ts';
import { monospace, verbatim } from '../../ui/forms/verbatim.ts';
import type { Connection } from '../connection-part.ts';
import { providerOf } from '../providers.ts';
import { needsSecret, type ProviderValues } from './settings-values.ts';

interface ProviderFieldsProps<V extends ProviderValues> {
  connection: Connection;
  form: SettingsForm<V>;
}

/** The values that the provider gives: issuer, client ID, client secret. */
export function ProviderFields<V extends ProviderValues>({ connection, form }: ProviderFieldsProps<V>) {
  const { issuer: example } = providerOf(connection.preset);
  const { clientSecret, error: refused, ...secret } = secretField(form);
  const error = needsSecret(connection, form.values) ? t('Enter the secret again for another issuer.') : refused;
  const field = { maw: '36rem', styles: monospace, ...verbatim };
  return (
    <>
      {example !== undefined && (
        <TextInput
          label={t('Issuer')}
          description={t('As in its discovery document, letter by letter.')}
          placeholder={example}
          maxLength={2048}
          {...field}
          {...form.field('issuer')}
        />
      )}
      <TextInput label={t('Client ID')} maxLength={255} {...field} {...form.field('clientId')} />
      <TextInput
        label={t('Client secret')}
        description={
          connection.hasSecret
            ? t('One is stored. Leave it empty to keep it.')
            : t('Stored encrypted; never shown again.')
        }
        type="password"
        autoComplete="off"
        maxLength={1000}
        {...field}
        {...secret}
        value={clientSecret}
        error={error}
      />
    </>
  );
}

function secretField<V extends ProviderValues>(form: SettingsForm<V>) {
  const { value, ...field } = form.field('clientSecret');
  return { clientSecret: value as string, ...field };
}
