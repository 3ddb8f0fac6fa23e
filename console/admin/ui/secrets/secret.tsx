import { Button, Checkbox } from '@mantine/core';
import { useState } from 'react';
import { CopyField } from '../code/copy.tsx';
import { saveFile } from '../files/save-file.ts';
import { Icon } from '../icon.tsx';
import styles from './secret.module.css';

interface Secret {
  label: string;
  value: string;
  hint?: string;
}

interface SecretsProps {
  secrets: readonly Secret[];
  /** Name of the downloaded file. */
  fileName: string;
  onDone(): void;
}

/** Secrets shown once, to copy or download. */
export function Secrets({ secrets, fileName, onDone }: SecretsProps) {
  const [saved, setSaved] = useState(false);
  const text = secrets.map(({ label, value }) => `# ${label}\n${value}\n`).join('\n');
  return (
    <div className={styles.secrets}>
      <p className={styles.once}>
        <Icon name="lock" size={18} />
        <span>Shown only once. Latchkey stores a hash.</span>
      </p>
      {secrets.map((secret) => (
        <CopyField key={secret.label} {...secret} />
      ))}
      <div className={styles.row}>
        <Button
          variant="default"
          onClick={() => saveFile(fileName, text)}
          leftSection={<Icon name="download" size={16} />}
        >
          Download as file
        </Button>
      </div>
      <div className={styles.foot}>
        <Checkbox
          label="I've saved these keys"
          checked={saved}
          onChange={(event) => setSaved(event.currentTarget.checked)}
        />
        <Button disabled={!saved} onClick={onDone}>
          Done
        </Button>
      </div>
    </div>
  );
}
