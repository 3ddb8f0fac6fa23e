import { Tabs } from '@mantine/core';
import { t } from '../../language/language.ts';
import { Code } from './code.tsx';

export interface Snippet {
  label: string;
  /** Values of this application are between ‹ and › and are highlighted. */
  code: string;
}

/** One snippet in several languages. */
export function Snippets({ snippets }: { snippets: readonly Snippet[] }) {
  return (
    <Tabs
      defaultValue={snippets[0]?.label ?? null}
      variant="pills"
      color="var(--accent-tint)"
      __vars={{ '--tabs-text-color': 'var(--accent-text)' }}
    >
      <Tabs.List aria-label={t('Language')} mb="sm">
        {snippets.map(({ label }) => (
          <Tabs.Tab key={label} value={label}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {snippets.map(({ label, code }) => (
        <Tabs.Panel key={label} value={label}>
          <Code code={code} label={label} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
