import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { t } from '../../language/language.ts';
import { useFirstFocus } from '../../ui/forms/first-focus.ts';
import { Icon } from '../../ui/icon.tsx';
import styles from './listbox.module.css';
import { useEnter } from './use-search.ts';

export interface Choice {
  key: string;
  /** Heading above the first choice of the group. */
  group?: string;
  label: string;
  /** Disambiguates choices with the same label. */
  detail?: string | undefined;
  /** Other words that find the choice; not shown. */
  keywords?: string | undefined;
  icon?: ReactNode;
  /** Found by the server for the text of its last response. */
  isFound: boolean;
  /** A popup stays open after this choice. */
  keepsOpen?: boolean;
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
  /** Shows the choices over the page while the field is in use; otherwise always, below the field. */
  isPopup?: boolean;
  foot?: ReactNode;
}

function useListbox({ text, onText, choices, pending, isPopup = false }: ListboxProps) {
  const [active, setActive] = useState(0);
  const [isOpen, setOpen] = useState(!isPopup);
  const at = Math.min(active, Math.max(0, choices.length - 1));
  const choose = (choice: Choice | undefined) => {
    if (!choice) return;
    setActive(0);
    if (isPopup) setOpen(choice.keepsOpen ?? false);
    choice.choose();
  };
  const { enter, forget } = useEnter(pending && choices[at]?.isFound !== false, () => choose(choices[at]));
  const open = () => setOpen(true);
  const close = () => {
    forget();
    setOpen(false);
  };
  const type = (typed: string) => {
    setActive(0);
    open();
    forget();
    onText(typed);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const ends = { Home: 0, End: choices.length - 1 };
    const moves: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, ...(isPopup ? {} : ends) };
    const next = moves[event.key];
    if (next !== undefined && (isPopup || choices.length > 0)) {
      event.preventDefault();
      if (!isOpen) open();
      else if (choices.length > 0) setActive((next + choices.length) % choices.length);
    }
    if (event.key === 'Enter' && isOpen) {
      event.preventDefault();
      enter();
    }
    if (event.key === 'Escape' && isOpen && isPopup) {
      event.preventDefault();
      close();
    }
  };
  const isShown = !isPopup || (isOpen && (choices.length > 0 || text !== ''));
  return { at, isShown, point: setActive, choose, open, close, type, onKeyDown };
}

/** WAI-ARIA combobox with a listbox popup. */
export function Listbox(props: ListboxProps) {
  const { label, placeholder, text, choices, pending, nothing, isPopup = false, foot } = props;
  const box = useListbox(props);
  const { at, isShown, open, close, type, onKeyDown } = box;
  const id = useId();
  const firstFocus = useFirstFocus<HTMLInputElement>();
  return (
    <div
      className={styles.box}
      data-popup={isPopup || undefined}
      onBlur={({ currentTarget, relatedTarget }) => isPopup && !currentTarget.contains(relatedTarget) && close()}
    >
      <div className={styles.field}>
        <Icon name="search" size={isPopup ? 16 : 18} />
        <input
          {...(isPopup ? {} : firstFocus)}
          role="combobox"
          aria-label={label}
          aria-expanded={isShown}
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={isShown && choices.length > 0 ? `${id}-${at}` : undefined}
          placeholder={placeholder}
          value={text}
          maxLength={200}
          autoComplete="off"
          spellCheck={false}
          onFocus={open}
          onClick={open}
          onChange={(event) => type(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
      </div>
      <Choices {...props} id={id} box={box} />
      {isShown && choices.length === 0 && (
        <p className={styles.nothing} role="status">
          {pending ? t('Searching …') : nothing}
        </p>
      )}
      {foot && <div className={styles.foot}>{foot}</div>}
    </div>
  );
}

type ChoicesProps = ListboxProps & { id: string; box: ReturnType<typeof useListbox> };

function Choices({ id, label, choices, pending, box: { at, isShown, point, choose } }: ChoicesProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [at, choices.length]);
  return (
    <div
      className={styles.list}
      role="listbox"
      id={id}
      aria-label={label}
      ref={list}
      aria-busy={pending}
      hidden={!isShown || choices.length === 0}
    >
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
            onPointerMove={() => point(index)}
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => choose(choice)}
          >
            {choice.icon}
            <span>{choice.label}</span>
            {choice.detail && <small>{choice.detail}</small>}
          </div>
        </div>
      ))}
    </div>
  );
}
