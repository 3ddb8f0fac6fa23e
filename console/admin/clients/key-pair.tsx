import { Button, Textarea } from '@mantine/core';
import { useState } from 'react';
import { Icon } from '../ui/icon.tsx';
import styles from './key-pair.module.css';

interface KeyPairProps {
  /** The public key, as JSON text. */
  value: string;
  onChange(value: string): void;
  error?: string | undefined;
  disabled?: boolean;
}

/** The public half of an application's Ed25519 key: pasted, or made here, where the private half stays. */
export function KeyPair({ value, onChange, error, disabled = false }: KeyPairProps) {
  const [note, setNote] = useState<string>();
  const generate = async () => {
    try {
      const pair = (await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])) as CryptoKeyPair;
      const { kty, crv, x } = await crypto.subtle.exportKey('jwk', pair.publicKey);
      download('client-key.private.pem', pem(await crypto.subtle.exportKey('pkcs8', pair.privateKey)));
      onChange(JSON.stringify({ kty, crv, x }, null, 2));
      setNote(
        'Made in this browser. The private half was downloaded (client-key.private.pem) and is kept nowhere else.',
      );
    } catch {
      setNote('This browser cannot make Ed25519 keys. Use: openssl genpkey -algorithm ed25519');
    }
  };
  return (
    <div className={styles.pair}>
      <Textarea
        label="Public key (JWK)"
        description="One Ed25519 key, its public half only. The application signs its client assertions with the private half."
        placeholder={'{ "kty": "OKP", "crv": "Ed25519", "x": "…" }'}
        autosize
        minRows={4}
        maxRows={10}
        spellCheck={false}
        value={value}
        error={error}
        disabled={disabled}
        classNames={{ input: styles.json ?? '' }}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      {!disabled && (
        <Button variant="default" size="xs" leftSection={<Icon name="key" size={16} />} onClick={generate}>
          Generate a key pair
        </Button>
      )}
      <p role="status" className={styles.note}>
        {note}
      </p>
    </div>
  );
}

function pem(der: ArrayBuffer): string {
  const text = btoa(String.fromCharCode(...new Uint8Array(der)));
  return `-----BEGIN PRIVATE KEY-----\n${text.match(/.{1,64}/g)?.join('\n')}\n-----END PRIVATE KEY-----\n`;
}

function download(name: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/x-pem-file' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
