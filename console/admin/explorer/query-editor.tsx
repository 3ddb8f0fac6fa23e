import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { lintKeymap } from '@codemirror/lint';
import { EditorState, Prec } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { graphql, updateSchema } from 'cm6-graphql';
import type { GraphQLSchema } from 'graphql';
import { useEffect, useRef } from 'react';
import { settings } from '../settings.ts';
import styles from './explorer.module.css';

interface QueryEditorProps {
  label: string;
  /** Text set by the page: a new object replaces the text, which the editor keeps otherwise. */
  content: { text: string };
  /** Undefined while loading: no completions yet. */
  schema: GraphQLSchema | undefined;
  onText(text: string): void;
  onRun(): void;
}

const colors = HighlightStyle.define([
  { tag: [tags.keyword, tags.definitionKeyword, tags.operatorKeyword], color: 'var(--accent-text)' },
  { tag: [tags.string, tags.number, tags.bool, tags.null], color: 'var(--good)' },
  { tag: [tags.variableName, tags.atom, tags.typeName], color: 'var(--note)' },
  { tag: tags.comment, color: 'var(--soft)' },
]);

/**
 * Replaces a selection instead of the browser, which would copy the color of the replaced text into a style attribute:
 * the Content-Security-Policy forbids that.
 */
function replaceSelected(event: InputEvent, view: EditorView): boolean {
  const [range] = event.getTargetRanges();
  const text = event.data;
  if (event.inputType !== 'insertText' || text === null || view.composing) return false;
  const { main } = view.state.selection;
  // The selection of the document may be newer than the editor's.
  const from = range ? view.posAtDOM(range.startContainer, range.startOffset) : main.from;
  const to = range ? view.posAtDOM(range.endContainer, range.endOffset) : main.to;
  if (from === to) return false;
  const insert = () =>
    view.state.update({
      changes: { from, to, insert: text },
      selection: { anchor: from + text.length },
      userEvent: 'input.type',
      scrollIntoView: true,
    });
  const isHandled = view.state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, text, insert));
  if (!isHandled) view.dispatch(insert());
  return true;
}

interface KeyPress {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
}

export const isRunKey = ({ key, ctrlKey, metaKey }: KeyPress): boolean => key === 'Enter' && (ctrlKey || metaKey);

/** A GraphQL editor with completions from the schema. Tab moves the focus out of it. */
export function QueryEditor({ label, content, schema, onText, onRun }: QueryEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const latest = useRef({ content, schema, onText, onRun });
  latest.current = { content, schema, onText, onRun };
  useEffect(() => {
    const editor = new EditorView({
      parent: place.current as HTMLDivElement,
      state: EditorState.create({
        doc: latest.current.content.text,
        extensions: [
          EditorView.cspNonce.of(settings.nonce),
          EditorView.contentAttributes.of({ 'aria-label': label }),
          EditorView.lineWrapping,
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) latest.current.onText(state.doc.toString());
          }),
          ...[lineNumbers(), history(), bracketMatching(), closeBrackets(), autocompletion()],
          ...[syntaxHighlighting(colors), graphql(latest.current.schema)],
          // Before every keymap: one of them adds a line.
          Prec.highest(
            EditorView.domEventHandlers({
              keydown: (event) => {
                if (!isRunKey(event)) return false;
                latest.current.onRun();
                return true;
              },
              beforeinput: replaceSelected,
            }),
          ),
          keymap.of([...completionKeymap, ...closeBracketsKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, [label]);
  useEffect(() => {
    if (view.current && schema) updateSchema(view.current, schema);
  }, [schema]);
  useEffect(() => {
    const editor = view.current;
    if (editor && editor.state.doc.toString() !== content.text) {
      editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: content.text } });
    }
  }, [content]);
  return <div ref={place} className={styles.editor} />;
}
