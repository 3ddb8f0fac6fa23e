import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useMutation } from '../api.ts';
import { type Failure, faultAt } from '../failure.ts';
import {
  DiscardExperienceDraft,
  ExperienceOf,
  type ExperienceStateFragment,
  ExperienceVersions,
  PublishExperience,
  RevertExperience,
  SaveExperienceDraft,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { toast } from '../ui/feedback/toast.tsx';
import { type Field, fieldProps } from '../ui/forms/field.ts';
import { useUnloadWarning } from '../ui/forms/unload-warning.ts';
import { type Content, contentOf, inputOf } from './content.ts';

/** Debounce before saving the draft, in milliseconds. */
const restMs = 500;

export interface ExperienceDraft {
  content: Content;
  mayChange: boolean;
  /** Props of the field's input. */
  field(name: Exclude<keyof Content, 'texts'>): Field & { value: string; disabled: boolean };
  setText(name: string, text: string): void;
  /** The server's draft version; a preview of an older one is stale. */
  version: number;
  state: 'saved' | 'typing' | 'saving' | 'refused';
  failure: Failure | undefined;
  faultOf(field: string): string | undefined;
  busy: boolean;
  publish(): Promise<void>;
  discard(): Promise<void>;
  revert(number: number): Promise<void>;
}

/**
 * Edits, saved after a pause. Optimistic locking: a concurrent change is reported, never overwritten.
 *
 * @param isPaused during another mutation of the draft, which would conflict
 */
function useAutosave(projectId: string, known: ExperienceStateFragment, isPaused: boolean) {
  const [typed, setTyped] = useState<Content>();
  const [state, setState] = useState<ExperienceDraft['state']>('saved');
  const [failure, setFailure] = useState<Failure>();
  const [version, setVersion] = useState(known.draftVersion);
  const [save, saving] = useMutation(SaveExperienceDraft, [ExperienceOf]);
  const saved = useMemo(() => contentOf(known.draft), [known.draft]);
  const content = typed ?? saved;
  // Adopt another admin's change if nothing was edited here.
  useEffect(() => {
    if (!typed) setVersion(known.draftVersion);
  }, [typed, known.draftVersion]);
  const latest = useRef({ content, version });
  latest.current = { content, version };
  const adopt = useCallback((next: number) => {
    setVersion(next);
    latest.current.version = next;
  }, []);
  const send = useCallback(async (): Promise<ExperienceDraft['state']> => {
    const sent = latest.current.content;
    setState('saving');
    const input = { projectId, expectedVersion: latest.current.version, ...inputOf(sent) };
    const outcome = await save({ input });
    setFailure(outcome.failure);
    if (outcome.data) adopt(outcome.data.saveExperienceDraft.draftVersion);
    const next = !outcome.data ? 'refused' : latest.current.content === sent ? 'saved' : 'typing';
    setState(next);
    return next;
  }, [projectId, save, adopt]);
  // Save one at a time: two requests with the same version would conflict.
  const inFlight = useRef<ReturnType<typeof send>>(undefined);
  const keep = useCallback(() => {
    inFlight.current ??= send().finally(() => {
      inFlight.current = undefined;
    });
    return inFlight.current;
  }, [send]);
  useEffect(() => {
    if (state !== 'typing' || saving || isPaused) return;
    const timer = setTimeout(() => void keep(), restMs);
    return () => clearTimeout(timer);
  }, [state, content, saving, isPaused, keep]);
  useUnloadWarning(state !== 'saved');
  const put = (next: Content, reached: 'saved' | 'typing') => {
    // Immediately, so that a save that ends before the next render is known to be outdated.
    latest.current.content = next;
    setTyped(next);
    setState(reached);
  };
  return { content, version, state, failure, setFailure, latest, adopt, keep, put };
}

/** A draft with autosave. */
export function useExperienceDraft(
  projectId: string,
  known: ExperienceStateFragment,
  mayChange: boolean,
): ExperienceDraft {
  const [publishDraft, publishing] = useMutation(PublishExperience, [ExperienceOf, ExperienceVersions]);
  const [discardDraft, discarding] = useMutation(DiscardExperienceDraft, [ExperienceOf]);
  const [revertTo, reverting] = useMutation(RevertExperience, [ExperienceOf, ExperienceVersions]);
  const busy = publishing || discarding || reverting;
  const { setFailure, latest, adopt, keep, put, ...draft } = useAutosave(projectId, known, busy);
  const { content, state, failure } = draft;
  const change = (part: Partial<Content>) => put({ ...latest.current.content, ...part }, 'typing');
  const settle = (answer: ExperienceStateFragment | undefined, message: string, isReplaced = true) => {
    if (!answer) return;
    adopt(answer.draftVersion);
    toast(message);
    if (isReplaced) put(contentOf(answer.draft), 'saved');
  };
  return {
    ...draft,
    busy,
    mayChange,
    field: (name) => ({
      value: content[name],
      disabled: !mayChange,
      ...fieldProps(
        failure,
        name,
        ({ value }) => value,
        (value) => change({ [name]: value }),
      ),
    }),
    setText: (name, text) => change({ texts: { ...content.texts, [name]: text } }),
    faultOf: (field) => faultAt(failure, field),
    async publish() {
      // Flush the save in flight, then the edits made since.
      for (let now = state; now !== 'saved'; ) {
        now = await keep();
        if (now === 'refused') return;
      }
      const { content: sent, version: expectedVersion } = latest.current;
      const { data, failure: failed } = await publishDraft({ input: { projectId, expectedVersion } });
      setFailure(failed);
      // Edits made meanwhile become the next draft.
      settle(data?.publishExperience, t('Published'), latest.current.content === sent);
    },
    async discard() {
      // Also after a conflict: discarding needs no merge.
      const { data, failure: failed } = await discardDraft({ input: { projectId } });
      setFailure(failed);
      settle(data?.discardExperienceDraft, t('Draft discarded'));
    },
    async revert(number) {
      const { data, failure: failed } = await revertTo({ input: { projectId, number } });
      setFailure(failed);
      const message = number === 0 ? t('Reverted to the default look') : t('Reverted to version {number}', { number });
      settle(data?.revertExperience, message);
    },
  };
}
