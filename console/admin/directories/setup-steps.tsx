import { Button } from '@mantine/core';
import { useState } from 'react';
import { CopyField } from '../ui/code/copy.tsx';
import { Section } from '../ui/layout/page.tsx';
import { IssueToken } from './issue-token.tsx';
import { providers } from './providers.ts';
import styles from './setup-steps.module.css';

interface SetupStepsProps {
  projectId: string;
  address: string;
  /** The token issued on this page, until the page closes. */
  token: string | undefined;
  mayChange: boolean;
  /** A directory is already connected. */
  isConnected: boolean;
  onIssued(token: string): void;
}

/** Setup instructions per directory, with this project's values to copy. */
export function SetupSteps({ projectId, address, token, mayChange, isConnected, onIssued }: SetupStepsProps) {
  const [chosen, setChosen] = useState('okta');
  const [isShown, setShown] = useState(false);
  const provider = providers.find(({ id }) => id === chosen) ?? providers[0];
  if (!provider) return null;
  if (isConnected && !isShown) {
    return (
      <Section
        title="Connect another directory"
        lead="Steps for Okta, Entra ID, OneLogin, JumpCloud and others"
        actions={
          <Button variant="default" onClick={() => setShown(true)}>
            Show the steps
          </Button>
        }
      />
    );
  }
  return (
    <Section
      title={isConnected ? 'Connect another directory' : 'Connect a directory'}
      lead="Follow the steps in your directory. Nothing changes until it connects."
    >
      <fieldset className={styles.providers}>
        <legend>Your directory</legend>
        {providers.map(({ id, name }) => (
          <label key={id}>
            <input type="radio" name="provider" checked={id === chosen} onChange={() => setChosen(id)} />
            {name}
          </label>
        ))}
      </fieldset>
      <ol className={styles.steps}>
        {provider.steps.map(({ text, values = [], settings = [] }) => (
          <li key={text}>
            <div>
              <p>{text}</p>
              {values.includes('address') && <CopyField label="SCIM address" value={address} />}
              {values.includes('token') &&
                (token ? (
                  <CopyField
                    label="Token"
                    value={token}
                    hint="Shown until you leave this page; only a hash is stored."
                  />
                ) : (
                  mayChange && (
                    <div className={styles.token}>
                      <IssueToken projectId={projectId} suggestedName={provider.name} onIssued={onIssued} />
                    </div>
                  )
                ))}
              {settings.length > 0 && (
                <dl className={styles.settings}>
                  {settings.map(([name, value]) => (
                    <div key={name}>
                      <dt>{name}</dt>
                      <dd>
                        <code>{value}</code>
                      </dd>
                    </div>
                  ))}
                </dl>
              )}
            </div>
          </li>
        ))}
      </ol>
      {provider.note && <p className={styles.note}>{provider.note}</p>}
    </Section>
  );
}
