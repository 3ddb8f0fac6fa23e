import { ActionIcon, Group, Text, Tooltip, VisuallyHidden } from '@mantine/core';
import { useState } from 'react';
import { t } from '../../language/language.ts';
import { AddressCode } from '../breakable.tsx';
import { Icon } from '../icon.tsx';
import styles from './copy.module.css';

/** @param label name of the value, for screen readers */
export function CopyButton({ value, label, onCopy }: { value: string; label: string; onCopy?(): void }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value);
    } catch {
      copyByHand(value);
    }
    setCopied(true);
    onCopy?.();
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <>
      <Tooltip label={copied ? t('Copied') : t('Copy')}>
        <ActionIcon variant="subtle" color="gray" c="dimmed" onClick={copy} aria-label={t('Copy {label}', { label })}>
          <Icon name={copied ? 'check' : 'copy'} size={16} />
        </ActionIcon>
      </Tooltip>
      <VisuallyHidden role="status">{copied ? t('{label} copied', { label }) : ''}</VisuallyHidden>
    </>
  );
}

/** Fallback for insecure origins, which have no Clipboard API. */
function copyByHand(value: string): void {
  const area = document.createElement('textarea');
  area.value = value;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}

interface CopyFieldProps {
  label: string;
  value: string;
  hint?: string;
  onCopy?(): void;
}

/** A read-only value with a copy button. */
export function CopyField({ label, value, hint, ...events }: CopyFieldProps) {
  return (
    <div>
      <Text span fw={550}>
        {label}
      </Text>
      <Group gap="xs" wrap="nowrap" mt={4} className={styles.value ?? ''}>
        <AddressCode text={value} />
        <CopyButton value={value} label={label} {...events} />
      </Group>
      {hint && (
        <Text fz="xs" c="dimmed" mt={4}>
          {hint}
        </Text>
      )}
    </div>
  );
}

/** A shortened ID with a copy button. */
export function IdChip({ id, label = 'ID' }: { id: string; label?: string }) {
  return (
    <span className={styles.chip}>
      <code title={id}>{id.length > 13 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id}</code>
      <CopyButton value={id} label={label} />
    </span>
  );
}
