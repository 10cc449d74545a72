import { hash } from 'node:crypto'

/**
 * The one script of all pages, which no page needs: it makes the columns of tables sort, and long tables filter. Its words
 * are in its element's `data-` attributes.
 */
export const script = `'use strict';
{
  const words = document.currentScript.dataset;
  const { lang } = document.documentElement;
  const collator = new Intl.Collator(lang, { numeric: true });
  const [group, point] = ['group', 'decimal'].map(
    (type) => new Intl.NumberFormat(lang).formatToParts(-1234567.8).find((part) => part.type === type).value);

  function keyOf(row, column) {
    const cell = row.cells[column];
    const exact = cell.querySelector('data, time');
    if (exact) return exact.dateTime ?? Number(exact.value);
    const text = cell.textContent.trim();
    const digits = text.replaceAll(group, '').replaceAll(/[\\s%$\\u20ac]/g, '').replace(point, '.');
    return cell.className === 'number' && digits !== '' && !Number.isNaN(Number(digits)) ? Number(digits) : text;
  }

  function compare(a, b) {
    return typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(a, b);
  }

  function makeSort(table, heads) {
    const [body] = table.tBodies;
    for (const [column, head] of heads.entries()) {
      if (head.textContent.trim() === '') continue;
      const button = document.createElement('button');
      button.type = 'button';
      button.title = words.sort;
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener('click', () => {
        // Of money and counts the largest are looked for first.
        const first = head.className === 'number' ? 'descending' : 'ascending';
        const [other] = ['descending', 'ascending'].filter((one) => one !== first);
        const order = head.getAttribute('aria-sort') === first ? other : first;
        for (const one of heads) one.removeAttribute('aria-sort');
        head.setAttribute('aria-sort', order);
        const sign = order === 'ascending' ? 1 : -1;
        const keyed = [...body.rows].map((row) => [keyOf(row, column), row]);
        body.append(...keyed.sort(([a], [b]) => sign * compare(a, b)).map(([, row]) => row));
      });
    }
  }

  function makeFilter(table) {
    const label = document.createElement('label');
    const input = document.createElement('input');
    label.className = 'filter';
    input.type = 'search';
    label.append(words.filter, input);
    table.parentElement.before(label);
    input.addEventListener('input', () => {
      const wanted = input.value.toLowerCase().split(/\\s+/);
      for (const row of table.tBodies[0].rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !wanted.every((word) => text.includes(word));
      }
    });
  }

  for (const table of document.querySelectorAll('main .scroll > table')) {
    const rows = table.tBodies[0].rows.length;
    if (rows > 1) makeSort(table, [...table.tHead.rows[0].cells]);
    if (rows > 10) makeFilter(table);
  }
}
`

/** Its address, which changes with its bytes. */
export const scriptAddress = `/portal/${hash('sha256', script).slice(0, 12)}.js`
