"""Programs made with sesshoku: the crane game.

In: keys and scripts of a player. Out: rounds, scores, demonstrations that play again.
"""
