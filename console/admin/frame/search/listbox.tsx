import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { useFirstFocus } from '../../ui/forms/first-focus.ts';
import { Icon } from '../../ui/icon.tsx';
import styles from './listbox.module.css';
import { useEnter } from './use-search.ts';

export interface Choice {
  key: string;
  /** Heading above the first choice of the group. */
  group: string;
  label: string;
  /** Disambiguates choices with the same label. */
  detail?: string | undefined;
  icon?: ReactNode;
  /** Found by the server for the text of its last response. */
  isFound: boolean;
  choose(): void;
}

interface ListboxProps {
  label: string;
  placeholder: string;
  text: string;
  onText(text: string): void;
  choices: readonly Choice[];
  pending: boolean;
  nothing: string;
  foot?: ReactNode;
}

/** WAI-ARIA combobox with a listbox popup. */
export function Listbox({ label, placeholder, text, onText, choices, pending, nothing, foot }: ListboxProps) {
  const [active, setActive] = useState(0);
  const id = useId();
  const field = useFirstFocus<HTMLInputElement>();
  const list = useRef<HTMLDivElement>(null);
  const at = Math.min(active, Math.max(0, choices.length - 1));
  const { enter, forget } = useEnter(pending && choices[at]?.isFound !== false, () => choices[at]?.choose());
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [at, choices]);
  const keyed = (event: KeyboardEvent) => {
    const moves: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: choices.length - 1 };
    const next = moves[event.key];
    if (next !== undefined && choices.length > 0) {
      event.preventDefault();
      setActive((next + choices.length) % choices.length);
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      enter();
    }
  };
  return (
    <div className={styles.box}>
      <div className={styles.field}>
        <Icon name="search" size={18} />
        <input
          ref={field}
          role="combobox"
          aria-label={label}
          aria-expanded="true"
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={choices.length > 0 ? `${id}-${at}` : undefined}
          placeholder={placeholder}
          value={text}
          maxLength={200}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          onChange={(event) => {
            setActive(0);
            forget();
            onText(event.currentTarget.value);
          }}
          onKeyDown={keyed}
        />
      </div>
      <div className={styles.list} role="listbox" id={id} aria-label={label} ref={list} aria-busy={pending}>
        {choices.map((choice, index) => (
          <div key={choice.key} role="presentation">
            {choices[index - 1]?.group !== choice.group && (
              <p className={styles.group} role="presentation">
                {choice.group}
              </p>
            )}
            {/* Focus stays in the input (aria-activedescendant). */}
            <div
              className={styles.choice}
              role="option"
              id={`${id}-${index}`}
              aria-selected={index === at}
              onPointerMove={() => setActive(index)}
              onClick={choice.choose}
            >
              {choice.icon}
              <span>{choice.label}</span>
              {choice.detail && <small>{choice.detail}</small>}
            </div>
          </div>
        ))}
      </div>
      {choices.length === 0 && (
        <p className={styles.nothing} role="status">
          {pending ? 'Searching …' : nothing}
        </p>
      )}
      {foot && <div className={styles.foot}>{foot}</div>}
    </div>
  );
}
