import type { Theme } from '../../../src/kernel/project.js'
import { aGraph, amount, anOrganisation, day } from './builders.js'

const water: Theme = { id: 'water', name: 'Clean Water', humanitarian: false }

/** The worked example: an invented project with every field that clients depend on. */
export const wellsForTara = aGraph({
  project: {
    need: 'The only stream dries up from January to May.',
    longTermImpact: 'Clean water for 900 people for at least fifteen years.',
    activities: 'Drill four wells and train two caretakers per village.',
    additionalDocumentation: 'https://giving.example/files/2045/plan.pdf',
    contactAddress: '12 Market Road',
    contactCity: 'Bo',
    contactState: 'Southern',
    contactPostal: '00232',
    contactCountry: 'Sierra Leone',
    contactUrl: 'https://tarawater.example',
    projectLink: 'https://giving.example/projects/wells-for-tara/',
    progressReportLink: 'https://giving.example/projects/wells-for-tara/updates/',
    themeName: 'Clean Water',
    countryName: 'Sierra Leone',
    countryCode: 'SL',
    regionName: 'Africa',
    goal: amount('8000.000'),
    funding: amount('1250.000'),
    numberOfReports: 2,
    dateOfMostRecentReport: new Date('2026-10-02T08:00:00Z'),
    imageLink: 'https://giving.example/img/2045/original.jpg',
    imageGallerySize: 3,
    modifiedDate: new Date('2026-11-02T06:12:44Z'),
    firstSeenOn: day('2025-02-11'),
  },
  organisation: anOrganisation({
    addressLine1: '12 Market Road',
    city: 'Bo',
    state: 'Southern',
    postal: '00232',
    url: 'https://tarawater.example',
    logoUrl: 'https://giving.example/img/org/318.png',
    mission: 'Safe water close to home.',
    themes: [water],
    countries: [{ code: 'SL', name: 'Sierra Leone' }],
  }),
  themes: [water],
  photos: [
    {
      position: 0,
      wireId: 0,
      title: 'Wells for Tara',
      renditions: {
        small: 'https://giving.example/img/2045/small.jpg',
        thumbnail: 'https://giving.example/img/2045/thumb.jpg',
        medium: 'https://giving.example/img/2045/medium.jpg',
        large: 'https://giving.example/img/2045/large.jpg',
        extraLarge: 'https://giving.example/img/2045/xl.jpg',
        original: 'https://giving.example/img/2045/original.jpg',
      },
      consent: true,
    },
  ],
  donationOptions: [{ amount: amount('25.000'), description: 'buys tools for one caretaker' }],
})
