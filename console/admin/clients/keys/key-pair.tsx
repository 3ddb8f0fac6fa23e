import { Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { t } from '../../language/language.ts';
import { SecondaryButton } from '../../ui/buttons.tsx';
import { saveFile } from '../../ui/files/save-file.ts';
import { monospace } from '../../ui/forms/verbatim.ts';
import { Icon } from '../../ui/icon.tsx';
import { makePair } from './pem.ts';

interface KeyPairProps {
  /** Public JWK as JSON text. */
  value: string;
  onChange(value: string): void;
  error?: string | undefined;
  disabled?: boolean;
}

/** The application's Ed25519 public key: pasted, or generated here; the private key never leaves the browser. */
export function KeyPair({ value, onChange, error, disabled = false }: KeyPairProps) {
  const [note, setNote] = useState<string>();
  const generate = async () => {
    try {
      const { pair, privatePem } = await makePair('Ed25519');
      const { kty, crv, x } = await crypto.subtle.exportKey('jwk', pair.publicKey);
      saveFile('client-key.private.pem', privatePem);
      onChange(JSON.stringify({ kty, crv, x }, null, 2));
      setNote(
        t('Generated in this browser. The private key was downloaded (client-key.private.pem) and is not stored.'),
      );
    } catch {
      setNote(t('This browser cannot generate Ed25519 keys. Use: openssl genpkey -algorithm ed25519'));
    }
  };
  return (
    <Stack gap="xs" align="flex-start">
      <Textarea
        w="100%"
        styles={monospace}
        label={t('Public key (JWK)')}
        description={t(
          'One Ed25519 key, or for the project issuer any of Ed25519, P-256 and RSA. The application signs client assertions with the private key.',
        )}
        placeholder={'{ "kty": "OKP", "crv": "Ed25519", "x": "…" }'}
        autosize
        minRows={4}
        maxRows={10}
        spellCheck={false}
        value={value}
        error={error}
        disabled={disabled}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      {!disabled && (
        <SecondaryButton size="xs" leftSection={<Icon name="key" size={16} />} onClick={generate}>
          {t('Generate a key pair')}
        </SecondaryButton>
      )}
      <Text role="status" fz="xs" c="dimmed">
        {note}
      </Text>
    </Stack>
  );
}
